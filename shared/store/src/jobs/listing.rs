//! Jobs, newest first: someone's, or everyone's.

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use domain::Failure;
use domain::accounts::UserId;
use domain::jobs::{Job, JobId, Status, TypeName};

use super::rows::{self, LISTS};
use super::{Jobs, Page};
use crate::row::{Item, text};
use crate::schema::{GSI1, GSI3};
use crate::tally;

/// Pages read of one list for one answer at most: a filter that matches little must not read all.
const PAGES: usize = 8;

/// Entries looked at for one page.
const LOOKED_AT: i32 = 250;

/// Whose jobs.
#[derive(Debug, Clone, Copy)]
pub enum Whose<'a> {
    /// This user's.
    Of(&'a UserId),
    /// Everyone's.
    Everyones,
}

/// What a listed job must have.
#[derive(Debug, Clone, Default)]
pub struct JobFilter {
    /// This status.
    pub status: Option<Status>,
    /// This type.
    pub kind: Option<TypeName>,
}

/// What was found in one list, and from where on nothing is known.
struct Stretch {
    ids: Vec<JobId>,
    stopped_at: Option<JobId>,
}

impl Jobs {
    /// Up to `limit` jobs before the position `after`, newest first. A page may be short, or even
    /// empty, and still have a next one: a filter is applied to what was read.
    pub async fn list(
        &self,
        whose: Whose<'_>,
        filter: &JobFilter,
        limit: usize,
        after: Option<&str>,
    ) -> Result<Page<Job>, Failure> {
        let lists: Vec<(&str, String)> = match whose {
            Whose::Of(owner) => vec![(GSI1, rows::owner_list(owner.as_str()))],
            Whose::Everyones => (0..LISTS).map(|list| (GSI3, rows::everyones_list(list))).collect(),
        };
        let mut ids = Vec::new();
        let mut horizon: Option<JobId> = None;
        for (index, list) in lists {
            let stretch = self.stretch(index, &list, filter, limit, after).await?;
            ids.extend(stretch.ids);
            horizon = horizon.max(stretch.stopped_at);
        }
        ids.sort_unstable_by(|a, b| b.cmp(a));
        // Below the horizon some list may have more that was not read.
        ids.retain(|id| horizon.as_ref().is_none_or(|horizon| id >= horizon));
        let cut = ids.len() > limit;
        ids.truncate(limit);
        let next = if cut { ids.last().cloned() } else { horizon };
        let mut items = self.find_all(&ids).await?;
        items.sort_unstable_by(|a, b| b.id.cmp(&a.id));
        Ok(Page { items, next: next.map(|id| id.as_str().to_owned()) })
    }

    async fn stretch(
        &self,
        index: &str,
        list: &str,
        filter: &JobFilter,
        limit: usize,
        after: Option<&str>,
    ) -> Result<Stretch, Failure> {
        let mut ids = Vec::new();
        let mut start: Option<Item> = None;
        for _ in 0..PAGES {
            let (pk, sk) = (format!("{index}pk"), format!("{index}sk"));
            let mut request = self
                .client
                .query()
                .table_name(&self.table)
                .index_name(index)
                .key_condition_expression(format!("{pk} = :list AND {sk} < :after"))
                .expression_attribute_values(":list", text(list))
                .expression_attribute_values(":after", text(after.unwrap_or("~")))
                .set_exclusive_start_key(start)
                .scan_index_forward(false)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            let mut wanted = Vec::new();
            if let Some(status) = filter.status {
                wanted.push("#status = :status");
                request = request
                    .expression_attribute_names("#status", "status")
                    .expression_attribute_values(":status", text(status.name()));
            }
            if let Some(kind) = &filter.kind {
                wanted.push("kind = :kind");
                request = request.expression_attribute_values(":kind", text(kind.as_str()));
            }
            let plain = i32::try_from(limit + 1).unwrap_or(LOOKED_AT);
            request = if wanted.is_empty() {
                request.limit(plain)
            } else {
                request.filter_expression(wanted.join(" AND ")).limit(LOOKED_AT)
            };
            let found =
                request.send().await.map_err(|cause| Failure::new("list the jobs", cause))?;
            tally::note(found.consumed_capacity());
            ids.extend(found.items().iter().filter_map(rows::own_id));
            start = found.last_evaluated_key;
            if start.is_none() || ids.len() > limit {
                break;
            }
        }
        Ok(Stretch { ids, stopped_at: start.as_ref().and_then(rows::own_id) })
    }
}
