//! The firewall: what admins block or let pass, and what nodes have blocked for a while.
//!
//! Nodes write rules named `auto-…` when an address is refused too often. Admins read and delete those
//! but never write one. What has expired is not found.

use boundary::http::{Answer, Problem, Request, Response};
use boundary::limits::configuration;
use domain::limits::Rejected;
use domain::limits::firewall::{
    Action, Asked, Firewall, FirewallDraft, FirewallRule, HeaderTest, Ruling,
};
use domain::{Failure, Timestamp};
use http::{StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::limits::{Document, Part};

use crate::rules::LONGEST_ID;
use crate::state::{State, check_version, decided};

/// What nodes call their rules.
const AUTOMATIC: &str = "auto-";

/// Networks of each rule in a list, which may have 100,000 of them.
const LISTED_NETWORKS: usize = 100;

/// What happens to a request.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum ActionName {
    Allow,
    Deny,
}

/// What a header must be like: exactly one of the three.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct HeaderBody {
    /// The header's name.
    name: String,
    /// It has this in it.
    contains: Option<String>,
    /// It is this.
    equals: Option<String>,
    /// It isn't there.
    absent: Option<bool>,
}

/// A firewall rule to be. Every list that isn't empty must match, any entry of it will do, and one
/// list at least must not be empty. An `allow` rule that matches wins over every `deny` rule.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FirewallBody {
    #[schemars(with = "ActionName")]
    action: Action,
    /// Networks or single addresses, at most 5,000.
    #[serde(default)]
    cidrs: Vec<String>,
    /// Paths like `/api/v1/jobs/{id}` or `/admin/{*rest}`, at most 50.
    #[serde(default)]
    paths: Vec<String>,
    /// Methods.
    #[serde(default)]
    methods: Vec<String>,
    /// Tests of headers, at most 50.
    #[serde(default)]
    #[schemars(with = "Vec<HeaderBody>")]
    headers: Vec<HeaderTest>,
    /// What the `user-agent` header has in it, in upper or lower case; at most 50.
    #[serde(default)]
    user_agents: Vec<String>,
    /// Why; whoever is turned away is told.
    #[serde(default)]
    #[schemars(length(max = 200))]
    reason: String,
    /// When it ends by itself, as RFC 3339; never if left out.
    #[schemars(with = "Option<String>")]
    expires_at: Option<Timestamp>,
}

impl From<FirewallBody> for FirewallDraft {
    fn from(body: FirewallBody) -> Self {
        Self {
            action: body.action,
            cidrs: body.cidrs,
            paths: body.paths,
            methods: body.methods,
            headers: body.headers,
            user_agents: body.user_agents,
            reason: body.reason,
            expires_at: body.expires_at,
        }
    }
}

/// A firewall rule.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FirewallView {
    id: String,
    #[schemars(with = "ActionName")]
    action: Action,
    /// Of each rule in a list the first hundred.
    cidrs: Vec<String>,
    /// How many there are.
    cidr_count: usize,
    paths: Vec<String>,
    methods: Vec<String>,
    #[schemars(with = "Vec<HeaderBody>")]
    headers: Vec<HeaderTest>,
    user_agents: Vec<String>,
    reason: String,
    expires_at: Option<String>,
    /// Whether a node made it, because an address was refused too often.
    automatic: bool,
    /// Grows with each change; the same number as in `ETag`.
    version: u64,
    changed_by: String,
    changed_at: String,
}

/// Firewall rules: the admins' by id, then the automatic ones.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FirewallsView {
    rules: Vec<FirewallView>,
}

pub(crate) async fn list(state: &State, request: Request) -> Answer {
    let rules = configuration::firewall(&state.limits).await?;
    let rules = rules.iter().filter(|(rule, _)| holds(rule, request.now));
    let rules = rules.map(|(rule, document)| FirewallView::of(rule, document, LISTED_NETWORKS));
    Ok(Response::json(StatusCode::OK, &FirewallsView { rules: rules.collect() }))
}

pub(crate) async fn read(state: &State, request: Request) -> Answer {
    let found = state.firewall_rule(request.param("rule")).await?;
    let (rule, document) = held(found.as_ref(), request.now)?;
    let view = FirewallView::of(rule, document, usize::MAX);
    Ok(Response::json(StatusCode::OK, &view).with_version(document.version))
}

pub(crate) async fn save(state: &State, request: Request) -> Answer {
    let body: FirewallBody = request.json()?;
    let id = request.param("rule");
    if id.starts_with(AUTOMATIC) {
        let rule = format!("another name: those that begin with `{AUTOMATIC}` are for nodes");
        return Err(Problem::field("rule", rule).into());
    }
    let draft = FirewallDraft::from(body);
    let mut rule = draft.into_rule(id, 1, request.now).map_err(unfit)?;
    if locks_out(&rule, &request) {
        let must_be = "such that the rule does not turn away the request that makes it";
        return Err(Problem::field(first_list(&rule), must_be).into());
    }
    let found = state.firewall_rule(id).await?;
    let held = held(found.as_ref(), request.now).map(|(_, document)| document.version).ok();
    check_version(&request, held)?;
    rule.version = found.map_or(0, |found| found.document.version) + 1;
    let body = rule.to_document();
    let document = decided(&request, id.to_owned(), rule.version, body, rule.expires_at)?;
    state.save(Part::Firewall, &document).await?;
    let view = FirewallView::of(&rule, &document, usize::MAX);
    Ok(match held {
        Some(_) => Response::json(StatusCode::OK, &view),
        None => {
            Response::json(StatusCode::CREATED, &view).with_text(header::LOCATION, &request.path)
        }
    }
    .with_version(rule.version))
}

pub(crate) async fn delete(state: &State, request: Request) -> Answer {
    let id = request.param("rule");
    let found = state.firewall_rule(id).await?;
    let (_, document) = held(found.as_ref(), request.now)?;
    check_version(&request, Some(document.version))?;
    state.remove(part(id), id, document.version).await?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

/// A rule's document and, unless another version of the program wrote it, the rule.
struct Found {
    rule: Option<FirewallRule>,
    document: Document,
}

impl State {
    async fn firewall_rule(&self, id: &str) -> Result<Option<Found>, Failure> {
        if id.len() > LONGEST_ID {
            return Ok(None);
        }
        let document = self.limits.document(part(id), id).await?;
        let found = |document: Document| Found {
            rule: FirewallRule::from_document(&document.body),
            document,
        };
        Ok(document.map(found))
    }
}

impl FirewallView {
    fn of(rule: &FirewallRule, document: &Document, networks: usize) -> Self {
        Self {
            id: rule.id.clone(),
            action: rule.action,
            cidrs: rule.cidrs.iter().take(networks).map(ToString::to_string).collect(),
            cidr_count: rule.cidrs.len(),
            paths: rule.paths.clone(),
            methods: rule.methods.clone(),
            headers: rule.headers.clone(),
            user_agents: rule.user_agents.clone(),
            reason: rule.reason.clone(),
            expires_at: rule.expires_at.map(|at| at.to_string()),
            automatic: rule.automatic,
            version: document.version,
            changed_by: document.changed_by.clone(),
            changed_at: document.changed_at.to_string(),
        }
    }
}

/// Whether whoever makes this rule could not take it back.
fn locks_out(rule: &FirewallRule, request: &Request) -> bool {
    let asked = Asked {
        ip: request.client,
        path: &request.path,
        method: request.method.as_str(),
        header: &|name| request.header(name),
    };
    let firewall = Firewall::compile(vec![rule.clone()]);
    firewall.judge(&asked, request.now.as_millisecond()) != Ruling::Pass
}

/// The first list that has something in it.
fn first_list(rule: &FirewallRule) -> &'static str {
    let lists = [
        ("cidrs", rule.cidrs.is_empty()),
        ("paths", rule.paths.is_empty()),
        ("methods", rule.methods.is_empty()),
        ("headers", rule.headers.is_empty()),
    ];
    lists.iter().find(|(_, is_empty)| !is_empty).map_or("userAgents", |(name, _)| name)
}

fn part(id: &str) -> Part {
    if id.starts_with(AUTOMATIC) { Part::Blocks } else { Part::Firewall }
}

fn holds(rule: &FirewallRule, now: Timestamp) -> bool {
    rule.expires_at.is_none_or(|at| now < at)
}

/// The rule if it is there and has not expired.
fn held(found: Option<&Found>, now: Timestamp) -> Result<(&FirewallRule, &Document), Rejected> {
    let held = found.and_then(|found| Some((found.rule.as_ref()?, &found.document)));
    held.filter(|(rule, _)| holds(rule, now)).ok_or(Rejected::UnknownFirewallRule)
}

/// A rule's id is in the path, under another name.
fn unfit((field, rule): (String, String)) -> Problem {
    let field = if field == "id" { "rule".to_owned() } else { field };
    let detail = format!("`{field}` {rule}.");
    Problem::unfit(field, detail)
}
