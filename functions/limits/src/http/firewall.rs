//! The firewall: what admins block or let pass, and what nodes have blocked for a while.
//!
//! Nodes write rules named `auto-…` when an address is refused too often. Admins read and delete those
//! but never write one. What has expired is not found.

mod view;

use std::sync::Arc;

use boundary::http::{Call, Json, NoContent, Operation, Path, Problem, State, Versioned};
use boundary::limits::configuration;
use domain::accounts::Role;
use domain::limits::Rejected;
use domain::limits::firewall::{
    Firewall, FirewallDecision, FirewallDraft, FirewallRequest, FirewallRule,
};
use domain::{Result, Timestamp};
use http::HeaderMap;
use store::limits::{DocumentPart, LimitsDocument};

use self::view::{FirewallBody, FirewallView, FirewallsView};
use super::RulePath;
use super::saved::SavedResponse;
use crate::http::rules::MAX_ID_LENGTH;
use crate::http::state::{App, Expected, check_version, new_document};

/// What nodes call their rules.
const AUTOMATIC: &str = "auto-";

/// Networks of each rule in a list, which may have 100,000 of them.
const LISTED_NETWORKS: usize = 100;

/// Five thousand networks in a rule, however they are written.
const BODY_CAP: usize = 512 * 1024;

pub(super) const LIST: Operation =
    Operation::get("/admin/firewall", "listFirewall", "List firewall rules")
        .description("Without those that have expired.")
        .role(Role::Admin);

pub(super) async fn list(
    State(app): State<Arc<App>>,
    call: Call,
) -> Result<Json<FirewallsView>, Problem> {
    let rules = configuration::firewall(&app.limits).await?;
    let rules = rules.iter().filter(|(rule, _)| is_active(rule, call.now));
    let rules = rules.map(|(rule, document)| FirewallView::new(rule, document, LISTED_NETWORKS));
    Ok(Json(FirewallsView { rules: rules.collect() }))
}

pub(super) const READ: Operation =
    Operation::get("/admin/firewall/{rule}", "readFirewallRule", "Read a firewall rule")
        .role(Role::Admin)
        .refuses(&[404]);

pub(super) async fn read(
    State(app): State<Arc<App>>,
    call: Call,
    Path(id): Path<RulePath>,
) -> Result<Versioned<Json<FirewallView>>, Problem> {
    let found = app.firewall_rule(&id).await?;
    let (rule, document) = require_active(found.as_ref(), call.now)?;
    Ok(Versioned(document.version, Json(FirewallView::new(rule, document, usize::MAX))))
}

pub(super) const SAVE: Operation =
    Operation::put("/admin/firewall/{rule}", "saveFirewallRule", "Make or replace a firewall rule")
        .description(
            "It holds everywhere within 10 seconds, for you too. 201 if there was none. Names that begin with \
             `auto-` are for nodes.",
        )
        .role(Role::Admin)
        .body_up_to(BODY_CAP);

pub(super) async fn save(
    State(app): State<Arc<App>>,
    call: Call,
    headers: HeaderMap,
    Json(body): Json<FirewallBody>,
    Path(id): Path<RulePath>,
    expected: Expected,
) -> Result<SavedResponse<FirewallView>, Problem> {
    if id.starts_with(AUTOMATIC) {
        let rule = format!("another name: those that begin with `{AUTOMATIC}` are for nodes");
        return Err(Problem::field("rule", rule));
    }
    let draft = FirewallDraft::from(body);
    let mut rule = draft.into_rule(&id, 1, call.now).map_err(invalid_field)?;
    if locks_out(&rule, &call, &headers) {
        let must_be = "such that the rule does not turn away the request that makes it";
        return Err(Problem::field(first_list(&rule), must_be));
    }
    let found = app.firewall_rule(&id).await?;
    let active =
        require_active(found.as_ref(), call.now).map(|(_, document)| document.version).ok();
    check_version(expected, active)?;
    rule.version = found.map_or(0, |found| found.document.version) + 1;
    let document = new_document(&call, id, rule.version, rule.to_document(), rule.expires_at)?;
    app.save(DocumentPart::Firewall, &document).await?;
    let made_at = active.is_none().then(|| call.path.clone());
    let view = FirewallView::new(&rule, &document, usize::MAX);
    Ok(SavedResponse::saved(rule.version, made_at, view))
}

pub(super) const DELETE: Operation =
    Operation::delete("/admin/firewall/{rule}", "deleteFirewallRule", "Delete a firewall rule")
        .description("Also one that a node made.")
        .role(Role::Admin)
        .refuses(&[404]);

pub(super) async fn delete(
    State(app): State<Arc<App>>,
    call: Call,
    Path(id): Path<RulePath>,
    expected: Expected,
) -> Result<NoContent, Problem> {
    let found = app.firewall_rule(&id).await?;
    let (_, document) = require_active(found.as_ref(), call.now)?;
    check_version(expected, Some(document.version))?;
    app.remove(part_of(&id), &id, document.version).await?;
    Ok(NoContent)
}

/// A rule's document and, unless another version of the program wrote it, the rule.
struct StoredFirewallRule {
    rule: Option<FirewallRule>,
    document: LimitsDocument,
}

impl App {
    async fn firewall_rule(&self, id: &str) -> Result<Option<StoredFirewallRule>> {
        if id.len() > MAX_ID_LENGTH {
            return Ok(None);
        }
        let document = self.limits.document(part_of(id), id).await?;
        let found = |document: LimitsDocument| StoredFirewallRule {
            rule: FirewallRule::from_document(&document.body),
            document,
        };
        Ok(document.map(found))
    }
}

/// Whether the caller who makes this rule could not take it back.
fn locks_out(rule: &FirewallRule, call: &Call, headers: &HeaderMap) -> bool {
    let request = FirewallRequest {
        ip: call.client_ip,
        path: &call.path,
        method: SAVE.method,
        // One odd byte in a header does not hide the rest from the firewall.
        header: &|name| std::str::from_utf8(headers.get(name)?.as_bytes()).ok(),
    };
    let firewall = Firewall::compile(vec![rule.clone()]);
    firewall.evaluate(&request, call.now.as_millisecond()) != FirewallDecision::Pass
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

fn part_of(id: &str) -> DocumentPart {
    if id.starts_with(AUTOMATIC) { DocumentPart::Blocks } else { DocumentPart::Firewall }
}

fn is_active(rule: &FirewallRule, now: Timestamp) -> bool {
    rule.expires_at.is_none_or(|at| now < at)
}

/// The rule if it is there and has not expired.
fn require_active(
    found: Option<&StoredFirewallRule>,
    now: Timestamp,
) -> Result<(&FirewallRule, &LimitsDocument), Rejected> {
    let active = found.and_then(|found| Some((found.rule.as_ref()?, &found.document)));
    active.filter(|(rule, _)| is_active(rule, now)).ok_or(Rejected::UnknownFirewallRule)
}

/// A rule's id is in the path, under another name.
fn invalid_field((field, rule): (String, String)) -> Problem {
    let field = if field == "id" { "rule".to_owned() } else { field };
    let detail = format!("`{field}` {rule}.");
    Problem::invalid_field(field, detail)
}
