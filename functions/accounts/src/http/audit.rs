//! What happened to an account, newest first.

use std::sync::Arc;

use boundary::http::{Cursor, Json, Operation, Query, Result, State};
use domain::accounts::{AuditEntry, Role};
use schemars::JsonSchema;
use serde::Serialize;

use super::Managed;
use super::page::{PageQuery, PageView};
use crate::http::state::App;

/// One change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditView {
    audit_id: String,
    /// What was done.
    change: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_id: Option<String>,
    /// Who did it.
    by: String,
    at: String,
}

impl From<&AuditEntry> for AuditView {
    fn from(audit: &AuditEntry) -> Self {
        Self {
            audit_id: audit.audit_id.clone(),
            change: audit.change.name().to_owned(),
            key_id: audit.key_id.as_ref().map(|id| id.as_str().to_owned()),
            by: audit.by.as_str().to_owned(),
            at: audit.at.to_string(),
        }
    }
}

pub(super) const TRAIL: Operation =
    Operation::get("/api/v1/accounts/{userId}/audit", "readAudit", "Read the audit trail")
        .description("Every change to the account and its keys: what, who, when; newest first.")
        .role(Role::Admin);

pub(super) async fn trail(
    State(app): State<Arc<App>>,
    Query(page): Query<PageQuery>,
    Managed(account): Managed,
) -> Result<Json<PageView<AuditView>>> {
    let list = format!("audit of {}", account.user_id.as_str());
    let after = page.position(&list, |position| (1..=64).contains(&position.len()))?;
    let found = app.accounts.trail(&account.user_id, page.limit()?, after.as_deref()).await?;
    let next_cursor = found.next.map(|next| Cursor::new(&list, &next).as_str().to_owned());
    let items = found.items.iter().map(AuditView::from).collect();
    Ok(Json(PageView { items, next_cursor }))
}
