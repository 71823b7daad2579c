//! Rules: list, read, save, delete.
//!
//! A rule that comes with the program has no document until an admin changes it, and is at version 0.
//! It is deleted by an empty document that stands in its place; any other by removing its document.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use boundary::http::{Call, Json, NoContent, Operation, Path, Problem, Query, State, Versioned};
use boundary::limits::configuration::{Configured, rule_document};
use domain::accounts::Role;
use domain::limits::{CallerRef, Exemptions, Rejected, Rule, RuleDraft, RuleSet};
use domain::{Failure, Result, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::limits::DocumentPart;

use super::RulePath;
use super::saved::SavedResponse;
use crate::http::caller;
use crate::http::dry_run::{DryRunView, replay};
use crate::http::state::{App, Expected, check_version, new_document};
use crate::http::view::{RuleBody, RuleView};

/// Names that paths beside the rules have.
const RESERVED: [&str; 4] = ["overrides", "usage", "top", "settings"];

/// No rule has a longer name.
pub(crate) const MAX_ID_LENGTH: usize = 64;

/// Which rules.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RulesQuery {
    /// Only those that apply to this path, with any method and any caller.
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
struct StoredRule {
    rule: Option<Configured<Rule>>,
    version: u64,
}

pub(super) const LIST: Operation =
    Operation::get("/admin/ratelimits", "listLimits", "List rules").role(Role::Admin);

pub(super) async fn list(
    State(app): State<Arc<App>>,
    call: Call,
    Query(query): Query<RulesQuery>,
) -> Result<Json<RulesView>, Problem> {
    let path = query.resource.as_deref().map(caller::resource).transpose()?;
    let mut rules = app.rules(&app.limits.documents(DocumentPart::Rules).await?);
    if let Some(path) = path {
        let matching = matching(&rules, path, call.now);
        rules.retain(|rule| matching.contains(&rule.value.id));
    }
    Ok(Json(RulesView { rules: rules.iter().map(RuleView::from).collect() }))
}

pub(super) const READ: Operation =
    Operation::get("/admin/ratelimits/{rule}", "readLimit", "Read a rule")
        .role(Role::Admin)
        .refuses(&[404]);

pub(super) async fn read(
    State(app): State<Arc<App>>,
    Path(id): Path<RulePath>,
) -> Result<Versioned<Json<RuleView>>, Problem> {
    let StoredRule { rule, version } = app.rule(&id).await?;
    let rule = rule.ok_or(Rejected::UnknownRule)?;
    Ok(Versioned(version, Json(RuleView::from(&rule))))
}

pub(super) const SAVE: Operation =
    Operation::put("/admin/ratelimits/{rule}", "saveLimit", "Make or replace a rule")
        .description(
            "It holds everywhere within 30 seconds. 201 if there was none. With `dryRun` nothing changes and the \
             answer is what the rule would have denied in the last hour: of the keys that nodes reported, which \
             are the heaviest, and without those that are exempt or have an override. For `anonymousOnly` an \
             address counts with all it asked, known callers included.",
        )
        .role(Role::Admin);

pub(super) async fn save(
    State(app): State<Arc<App>>,
    call: Call,
    Query(query): Query<SaveQuery>,
    Json(body): Json<RuleBody>,
    Path(id): Path<RulePath>,
    expected: Expected,
) -> Result<SavedResponse<SavedView>, Problem> {
    if RESERVED.contains(&id.as_str()) {
        return Err(Problem::field("rule", "another name: this one is taken by a path"));
    }
    // What is wrong with the rest is said before anything is read.
    let draft = RuleDraft::from(body);
    draft.clone().into_rule(&id, 1).map_err(with_path_name)?;
    let stored = app.rule(&id).await?;
    check_version(expected, stored.rule.as_ref().map(|_| stored.version))?;
    let version = stored.version + 1;
    let rule = draft.into_rule(&id, version).map_err(with_path_name)?;
    if query.dry_run {
        let view = replay(&app, rule, call.now).await?;
        return Ok(SavedResponse::DryRun(Json(SavedView::DryRun(view))));
    }
    let document = new_document(&call, rule_document(&id), version, to_json(&rule)?, None)?;
    app.save(DocumentPart::Rules, &document).await?;
    let rule =
        Configured { value: rule, changed: Some((document.changed_by, document.changed_at)) };
    let made_at = stored.rule.is_none().then(|| format!("/admin/ratelimits/{id}"));
    Ok(SavedResponse::saved(version, made_at, SavedView::Saved(RuleView::from(&rule))))
}

pub(super) const DELETE: Operation =
    Operation::delete("/admin/ratelimits/{rule}", "deleteLimit", "Delete a rule")
        .description(
            "Also one that comes with the program; save it to have it back. Its overrides stay, and do nothing \
             without it.",
        )
        .role(Role::Admin)
        .refuses(&[404]);

pub(super) async fn delete(
    State(app): State<Arc<App>>,
    call: Call,
    Path(id): Path<RulePath>,
    expected: Expected,
) -> Result<NoContent, Problem> {
    let StoredRule { rule, version } = app.rule(&id).await?;
    rule.ok_or(Rejected::UnknownRule)?;
    check_version(expected, Some(version))?;
    if RuleSet::defaults().iter().any(|rule| rule.id == id) {
        let nothing = new_document(&call, rule_document(&id), version + 1, String::new(), None)?;
        app.save(DocumentPart::Rules, &nothing).await?;
    } else {
        app.remove(DocumentPart::Rules, &rule_document(&id), version).await?;
    }
    Ok(NoContent)
}

impl App {
    async fn rule(&self, id: &str) -> Result<StoredRule> {
        if id.len() > MAX_ID_LENGTH {
            return Ok(StoredRule { rule: None, version: 0 });
        }
        let document = self.limits.document(DocumentPart::Rules, &rule_document(id)).await?;
        let rules = self.rules(document.as_slice());
        Ok(StoredRule {
            rule: rules.into_iter().find(|rule| rule.value.id == id),
            version: document.map_or(0, |document| document.version),
        })
    }

    /// The rule of that name that holds.
    pub(crate) async fn find_rule(&self, id: &str) -> Result<Option<Rule>> {
        Ok(self.rule(id).await?.rule.map(|rule| rule.value))
    }
}

/// A document's body.
pub(crate) fn to_json(what: &impl Serialize) -> Result<String> {
    serde_json::to_string(what).map_err(|error| Failure::new("write a document", error))
}

/// A rule's id is in the path, under another name.
fn with_path_name(rejected: Rejected) -> Rejected {
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
fn matching(rules: &[Configured<Rule>], path: &str, now: Timestamp) -> BTreeSet<String> {
    const METHODS: [&str; 8] =
        ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"];
    let rules = rules.iter().map(|rule| rule.value.clone()).collect();
    let set = RuleSet::new(rules, Vec::new(), Exemptions::default());
    let ip = Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let identified = CallerRef { user: Some("-"), api_key: Some("-"), ip, tenant: Some("-") };
    let anonymous = CallerRef { ip, ..CallerRef::default() };
    let asked = METHODS.into_iter().flat_map(|method| [(method, identified), (method, anonymous)]);
    let applied = asked
        .flat_map(|(method, subject)| set.matching(&subject, path, method, now.as_millisecond()));
    applied.map(|applied| applied.rule.id.clone()).collect()
}
