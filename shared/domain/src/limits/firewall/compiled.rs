//! The rules compiled: asked before anything else on every request.
//!
//! Networks are found with one search however many there are; rules without networks are a short
//! list that is gone through. Nothing is allocated unless a rule asks about the user agent.

use std::cell::OnceCell;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use super::network::IpRange;
use super::network_index::{AddressRange, NetworkIndex};
use super::pattern::Pattern;
use super::{FirewallAction, FirewallRule, HeaderTest};
use crate::Timestamp;

/// What the firewall needs to know of a request.
#[derive(Clone, Copy)]
pub struct FirewallRequest<'a> {
    /// The caller's address, whole. Without one no rule with networks matches.
    pub ip: Option<IpAddr>,
    /// The path as the gateway hands it over, without the query.
    pub path: &'a str,
    pub method: &'a str,
    /// The value of a header, named in lower case.
    pub header: &'a dyn Fn(&str) -> Option<&'a str>,
}

impl fmt::Debug for FirewallRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FirewallRequest")
            .field("path", &self.path)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirewallDecision<'f> {
    Pass,
    Refused {
        /// The id of the rule that says so: of several the first.
        rule: &'f str,
        reason: &'f str,
    },
}

#[derive(Debug, Clone)]
pub struct Firewall {
    rules: Vec<CompiledRule>,
    everywhere: Vec<u32>,
    v4: NetworkIndex<u32>,
    v6: NetworkIndex<u128>,
}

/// A rule without its networks. There may be very many that have nothing but networks: they are small.
#[derive(Debug, Clone)]
struct CompiledRule {
    id: Box<str>,
    reason: Arc<str>,
    action: FirewallAction,
    ends_ms: i64,
    conditions: Option<Box<Conditions>>,
}

#[derive(Debug, Clone)]
struct Conditions {
    paths: Vec<Pattern>,
    methods: Vec<String>,
    headers: Vec<HeaderTest>,
    user_agents: Vec<String>,
}

/// A request, and its user agent in lower case once a rule has asked for it.
struct CachedRequest<'a> {
    asked: FirewallRequest<'a>,
    agent: OnceCell<Option<String>>,
}

impl Default for Firewall {
    fn default() -> Self {
        Self::compile(Vec::new())
    }
}

impl Firewall {
    /// Compiles the rules. One that could only match by mistake (without conditions, or with paths
    /// of which none can be read) is left out.
    pub fn compile(rules: Vec<FirewallRule>) -> Self {
        let mut compiled = Vec::with_capacity(rules.len());
        let (mut everywhere, mut v4, mut v6) = (Vec::new(), Vec::new(), Vec::new());
        for mut source in rules {
            let Ok(rule) = u32::try_from(compiled.len()) else { break };
            let cidrs = std::mem::take(&mut source.cidrs);
            let Some(mut made) = CompiledRule::new(source, !cidrs.is_empty()) else { continue };
            made.share_reason(compiled.last());
            if cidrs.is_empty() {
                everywhere.push(rule);
            }
            for network in cidrs {
                match network.span() {
                    IpRange::V4(first, last) => v4.push(AddressRange { first, last, rule }),
                    IpRange::V6(first, last) => v6.push(AddressRange { first, last, rule }),
                }
            }
            compiled.push(made);
        }
        Self {
            rules: compiled,
            everywhere,
            v4: NetworkIndex::build(v4),
            v6: NetworkIndex::build(v6),
        }
    }

    /// Whether there is no rule, so that every request passes.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    pub fn evaluate(&self, asked: &FirewallRequest<'_>, now_ms: i64) -> FirewallDecision<'_> {
        if self.is_empty() {
            return FirewallDecision::Pass;
        }
        let request = CachedRequest { asked: *asked, agent: OnceCell::new() };
        let everywhere = self.everywhere.iter().copied();
        let verdict = match asked.ip.map(|ip| ip.to_canonical()) {
            None => self.first_denial(everywhere, &request, now_ms),
            Some(IpAddr::V4(ip)) => self.first_denial(
                everywhere.chain(self.v4.containing(ip.to_bits())),
                &request,
                now_ms,
            ),
            Some(IpAddr::V6(ip)) => self.first_denial(
                everywhere.chain(self.v6.containing(ip.to_bits())),
                &request,
                now_ms,
            ),
        };
        match verdict {
            None => FirewallDecision::Pass,
            Some(rule) => FirewallDecision::Refused { rule: &rule.id, reason: &rule.reason },
        }
    }

    /// The first rule among the candidates that refuses, unless one of them allows.
    fn first_denial(
        &self,
        candidates: impl Iterator<Item = u32>,
        request: &CachedRequest<'_>,
        now_ms: i64,
    ) -> Option<&CompiledRule> {
        let mut refusing: Option<(u32, &CompiledRule)> = None;
        for index in candidates {
            let rule = usize::try_from(index).ok().and_then(|index| self.rules.get(index))?;
            let known =
                rule.action == FirewallAction::Deny && refusing.is_some_and(|(by, _)| by <= index);
            if known || !rule.matches(request, now_ms) {
                continue;
            }
            match rule.action {
                FirewallAction::Allow => return None,
                FirewallAction::Deny => refusing = Some((index, rule)),
            }
        }
        refusing.map(|(_, rule)| rule)
    }
}

impl CompiledRule {
    fn new(rule: FirewallRule, has_networks: bool) -> Option<Self> {
        if !has_networks && !rule.has_conditions() {
            return None;
        }
        let more = !rule.paths.is_empty()
            || !rule.methods.is_empty()
            || !rule.headers.is_empty()
            || !rule.user_agents.is_empty();
        let paths: Vec<_> = rule.paths.iter().flat_map(|path| Pattern::parse(path)).collect();
        if paths.is_empty() && !rule.paths.is_empty() {
            return None;
        }
        let lower = |part: &String| part.to_ascii_lowercase();
        let conditions = Conditions {
            paths,
            methods: rule.methods,
            headers: rule.headers,
            user_agents: rule.user_agents.iter().map(lower).collect(),
        };
        Some(Self {
            id: rule.id.into(),
            reason: rule.reason.into(),
            action: rule.action,
            ends_ms: rule.expires_at.map_or(i64::MAX, Timestamp::as_millisecond),
            conditions: more.then(|| Box::new(conditions)),
        })
    }

    /// Automatic blocks all have the same reason: it is kept once.
    fn share_reason(&mut self, before: Option<&Self>) {
        if let Some(before) = before.filter(|before| before.reason == self.reason) {
            self.reason = Arc::clone(&before.reason);
        }
    }

    fn matches(&self, request: &CachedRequest<'_>, now_ms: i64) -> bool {
        now_ms < self.ends_ms
            && self.conditions.as_deref().is_none_or(|conditions| conditions.hold(request))
    }
}

impl Conditions {
    fn hold(&self, request: &CachedRequest<'_>) -> bool {
        let asked = &request.asked;
        // Who may not read may not ask what reading would say either.
        let method = if asked.method == "HEAD" { "GET" } else { asked.method };
        any(&self.methods, |named| named == asked.method || named.eq_ignore_ascii_case(method))
            && any(&self.paths, |path| path.matches(asked.path))
            && any(&self.headers, |test| test.holds((asked.header)(&test.name)))
            && any(&self.user_agents, |agent| {
                request.agent().is_some_and(|sent| sent.contains(agent))
            })
    }
}

/// An empty list asks for nothing.
fn any<T>(list: &[T], test: impl FnMut(&T) -> bool) -> bool {
    list.is_empty() || list.iter().any(test)
}

impl HeaderTest {
    /// Whether a header that was sent so, or wasn't, is as this says. A test that says nothing, or
    /// more than one thing, never holds.
    fn holds(&self, sent: Option<&str>) -> bool {
        match (&self.contains, &self.equals, self.absent) {
            (Some(part), None, false) => sent.is_some_and(|sent| sent.contains(part.as_str())),
            (None, Some(whole), false) => sent == Some(whole),
            (None, None, true) => sent.is_none(),
            _ => false,
        }
    }
}

impl CachedRequest<'_> {
    fn agent(&self) -> Option<&str> {
        let lower = || (self.asked.header)("user-agent").map(str::to_ascii_lowercase);
        self.agent.get_or_init(lower).as_deref()
    }
}
