//! Rules: list, read, save, delete.
//!
//! A rule that comes with the program has no document until someone changes it, and is at version 0.
//! It is deleted by an empty document that stands in its place; any other by removing its document.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use boundary::http::{Answer, Problem, Request, Response};
use boundary::limits::configuration::{Decided, Rules, rule_document};
use domain::limits::{Exempt, Rejected, Rule, RuleDraft, RuleSet, Subject};
use domain::{Failure, Timestamp};
use http::{StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::limits::Part;

use crate::dry_run::{DryRunView, replay};
use crate::state::{State, check_version, decided};
use crate::subject;
use crate::view::{RuleBody, RuleView};

/// Names that paths beside the rules have.
const RESERVED: [&str; 4] = ["overrides", "usage", "top", "settings"];

/// No rule has a longer name.
pub(crate) const LONGEST_ID: usize = 64;

/// Which rules.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RulesQuery {
    /// Only those that apply to this path, whatever the method and whoever calls.
    resource: Option<String>,
}

/// How to save.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct SaveQuery {
    /// Change nothing, and say what the rule would have denied in the last hour.
    dry_run: bool,
}

/// Rules, by id.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RulesView {
    rules: Vec<RuleView>,
}

/// The rule as it is now, or what it would have done.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum SavedView {
    /// It is saved.
    Saved(RuleView),
    /// With `dryRun`, nothing is.
    DryRun(DryRunView),
}

/// A rule, and the version of its document: 0 if it has none.
struct Stands {
    rule: Option<Decided<Rule>>,
    version: u64,
}

pub(crate) async fn list(state: &State, request: Request) -> Answer {
    let query: RulesQuery = request.query()?;
    let path = query.resource.as_deref().map(subject::resource).transpose()?;
    let mut rules = Rules::of(&state.limits.documents(Part::Rules).await?).rules;
    if let Some(path) = path {
        let applying = applying(&rules, path, request.now);
        rules.retain(|rule| applying.contains(&rule.what.id));
    }
    let rules = rules.iter().map(RuleView::from).collect();
    Ok(Response::json(StatusCode::OK, &RulesView { rules }))
}

pub(crate) async fn read(state: &State, request: Request) -> Answer {
    let Stands { rule, version } = state.rule(request.param("rule")).await?;
    let rule = rule.ok_or(Rejected::UnknownRule)?;
    Ok(Response::json(StatusCode::OK, &RuleView::from(&rule)).with_version(version))
}

pub(crate) async fn save(state: &State, request: Request) -> Answer {
    let query: SaveQuery = request.query()?;
    let body: RuleBody = request.json()?;
    let id = request.param("rule");
    if RESERVED.contains(&id) {
        return Err(Problem::field("rule", "another name: this one is taken by a path").into());
    }
    // What is wrong with the rest is said before anything is read.
    let draft = RuleDraft::from(body);
    draft.clone().into_rule(id, 1).map_err(named)?;
    let stands = state.rule(id).await?;
    check_version(&request, stands.rule.as_ref().map(|_| stands.version))?;
    let version = stands.version + 1;
    let rule = draft.into_rule(id, version).map_err(named)?;
    if query.dry_run {
        let view = replay(state, rule, request.now).await?;
        return Ok(Response::json(StatusCode::OK, &SavedView::DryRun(view)));
    }
    let document = rule_document(id);
    let document = decided(&request, document, version, written(&rule)?, None)?;
    state.save(Part::Rules, &document).await?;
    let rule = Decided { what: rule, by: Some((document.changed_by, document.changed_at)) };
    let view = SavedView::Saved(RuleView::from(&rule));
    Ok(match stands.rule {
        Some(_) => Response::json(StatusCode::OK, &view),
        None => Response::json(StatusCode::CREATED, &view)
            .with_text(header::LOCATION, &format!("/admin/ratelimits/{id}")),
    }
    .with_version(version))
}

pub(crate) async fn delete(state: &State, request: Request) -> Answer {
    let id = request.param("rule");
    let Stands { rule, version } = state.rule(id).await?;
    rule.ok_or(Rejected::UnknownRule)?;
    check_version(&request, Some(version))?;
    if RuleSet::defaults().iter().any(|rule| rule.id == id) {
        let nothing = decided(&request, rule_document(id), version + 1, String::new(), None)?;
        state.save(Part::Rules, &nothing).await?;
    } else {
        state.remove(Part::Rules, &rule_document(id), version).await?;
    }
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

impl State {
    async fn rule(&self, id: &str) -> Result<Stands, Failure> {
        if id.len() > LONGEST_ID {
            return Ok(Stands { rule: None, version: 0 });
        }
        let document = self.limits.document(Part::Rules, &rule_document(id)).await?;
        let rules = Rules::of(document.as_slice()).rules;
        Ok(Stands {
            rule: rules.into_iter().find(|rule| rule.what.id == id),
            version: document.map_or(0, |document| document.version),
        })
    }

    /// The rule of that name that holds.
    pub(crate) async fn known_rule(&self, id: &str) -> Result<Option<Rule>, Failure> {
        Ok(self.rule(id).await?.rule.map(|rule| rule.what))
    }
}

/// A document's body.
pub(crate) fn written(what: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(what).map_err(|error| Failure::new("write a document", error))
}

/// A rule's id is in the path, under another name.
fn named(rejected: Rejected) -> Rejected {
    match rejected {
        Rejected::Field { field, rule } if field == "id" => Rejected::field("rule", rule),
        Rejected::Field { .. }
        | Rejected::UnknownRule
        | Rejected::UnknownOverride
        | Rejected::UnknownFirewallRule
        | Rejected::Moved => rejected,
    }
}

/// The ids of the rules that some request for `path` is held to: anonymous or not, with any method.
fn applying(rules: &[Decided<Rule>], path: &str, now: Timestamp) -> BTreeSet<String> {
    const METHODS: [&str; 8] =
        ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"];
    let rules = rules.iter().map(|rule| rule.what.clone()).collect();
    let set = RuleSet::new(rules, Vec::new(), Exempt::default());
    let ip = Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let someone = Subject { user: Some("-"), api_key: Some("-"), ip, tenant: Some("-") };
    let stranger = Subject { ip, ..Subject::default() };
    let asked = METHODS.into_iter().flat_map(|method| [(method, someone), (method, stranger)]);
    let applied = asked
        .flat_map(|(method, subject)| set.applying(&subject, path, method, now.as_millisecond()));
    applied.map(|applied| applied.rule.id.clone()).collect()
}
