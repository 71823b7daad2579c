//! The blocklist: destinations that no link may lead to.

use std::sync::Arc;

use crate::store::BlocklistEntry;
use boundary::http::{Call, Caller, Json, NoContent, Operation, Path, Problem, Result, State};
use domain::accounts::Role;
use domain::links::target::TargetRules;
use domain::links::{DomainName, Target};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::EntryPath;
use crate::http::moderation::parse_reason;
use crate::http::state::App;

/// A destination to block: one of the two.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBlocklistEntry {
    /// A host, with everything beneath it.
    host: Option<String>,
    /// One URL.
    url: Option<String>,
    /// 1 to 200 characters.
    #[schemars(length(min = 1, max = 200))]
    reason: String,
}

/// A blocked destination.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlocklistEntryView {
    /// Names the entry: `host:evil.example` or `url:` and a SHA-256.
    entry: String,
    reason: String,
    added_by: String,
    added_at: String,
}

/// The blocklist.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BlocklistView {
    items: Vec<BlocklistEntryView>,
}

impl From<&BlocklistEntry> for BlocklistEntryView {
    fn from(entry: &BlocklistEntry) -> Self {
        Self {
            entry: entry.key.clone(),
            reason: entry.reason.clone(),
            added_by: entry.by.clone(),
            added_at: entry.at.to_string(),
        }
    }
}

pub(super) const LIST: Operation =
    Operation::get("/api/v1/blocklist", "listBlocked", "List blocked destinations")
        .role(Role::Admin);

pub(super) async fn list(State(app): State<Arc<App>>) -> Result<Json<BlocklistView>> {
    let entries = app.links.blocklist().await?;
    Ok(Json(BlocklistView { items: entries.iter().map(BlocklistEntryView::from).collect() }))
}

pub(super) const BLOCK: Operation =
    Operation::post("/api/v1/blocklist", "blockDestination", "Block a destination")
        .description(
            "New links to it are refused within a minute; the scan blocks those that exist.",
        )
        .role(Role::Admin)
        .statuses(&[201]);

pub(super) async fn block(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Json(body): Json<NewBlocklistEntry>,
) -> Result<(StatusCode, Json<BlocklistEntryView>)> {
    let key = match (&body.host, &body.url) {
        (Some(host), None) => {
            let name = DomainName::parse(host)
                .map_err(|_| Problem::field("host", "a domain name like evil.example, in ASCII"))?;
            format!("host:{}", name.as_str())
        }
        (None, Some(url)) => {
            let rules = TargetRules { max_length: TargetRules::MAX_LENGTH, own_hosts: &[] };
            let target = Target::parse(url, &rules);
            let target = target.map_err(|invalid| Problem::field("url", invalid))?;
            target.block_keys().pop().unwrap_or_default()
        }
        _ => return Err(Problem::field("host", "given, or else `url`, and not both")),
    };
    let entry = BlocklistEntry {
        key,
        reason: parse_reason(&body.reason)?,
        by: caller.user_id.as_str().to_owned(),
        at: call.now,
    };
    app.links.block_destination(&entry).await?;
    app.invalidate_blocklist().await;
    Ok((StatusCode::CREATED, Json(BlocklistEntryView::from(&entry))))
}

pub(super) const UNBLOCK: Operation =
    Operation::delete("/api/v1/blocklist/{entry}", "unblockDestination", "Unblock a destination")
        .role(Role::Admin);

pub(super) async fn unblock(
    State(app): State<Arc<App>>,
    Path(entry): Path<EntryPath>,
) -> Result<NoContent> {
    app.links.unblock_destination(&entry).await?;
    app.invalidate_blocklist().await;
    Ok(NoContent)
}
