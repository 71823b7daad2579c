//! Jobs, newest first: a user's, or all.

use domain::Result;
use domain::accounts::UserId;
use domain::jobs::{Job, JobId, JobStatus, JobTypeName};
use store::accounts::Page;
use store::schema::{GSI1, GSI3};

use super::Jobs;
use super::rows::{self, LIST_PARTITIONS};

/// Pages read of one list for one answer: a filter that matches little must not read all.
const MAX_PAGES: usize = 8;

/// Entries read at once when there is a filter.
const FILTERED_PAGE: i32 = 250;

#[derive(Debug, Clone, Copy)]
pub enum ListScope<'a> {
    OwnedBy(&'a UserId),
    All,
}

#[derive(Debug, Clone, Default)]
pub struct JobFilter {
    pub status: Option<JobStatus>,
    pub job_type: Option<JobTypeName>,
}

/// The part of one list that was read.
struct PartialList {
    ids: Vec<JobId>,
    /// The rest of the list begins after this one.
    stopped_at: Option<JobId>,
}

impl Jobs {
    /// Up to `limit` jobs before the position `after`, newest first. A page may be short, or even
    /// empty, and still have a next one: a filter is applied to what was read.
    pub async fn list(
        &self,
        scope: ListScope<'_>,
        filter: &JobFilter,
        limit: usize,
        after: Option<&str>,
    ) -> Result<Page<Job>> {
        let lists: Vec<(&str, String)> = match scope {
            ListScope::OwnedBy(owner) => vec![(GSI1, rows::owner_list(owner.as_str()))],
            ListScope::All => {
                (0..LIST_PARTITIONS).map(|list| (GSI3, rows::all_jobs_list(list))).collect()
            }
        };
        let mut ids = Vec::new();
        let mut horizon: Option<JobId> = None;
        for (index, list) in lists {
            let part = self.read_list((index, list), filter, limit, after).await?;
            ids.extend(part.ids);
            horizon = horizon.max(part.stopped_at);
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

    async fn read_list(
        &self,
        (index, list): (&'static str, String),
        filter: &JobFilter,
        limit: usize,
        after: Option<&str>,
    ) -> Result<PartialList> {
        let keys = format!("{index}pk = :list AND {index}sk < :after");
        let query = self.table.query("list the jobs", keys).index(index).backwards();
        let mut query = query.with(":list", list).with(":after", after.unwrap_or("~"));
        if let Some(status) = filter.status {
            query = query.filter("#status = :status").with(":status", status.name());
        }
        if let Some(job_type) = &filter.job_type {
            query = query.filter("kind = :kind").with(":kind", job_type.as_str());
        }
        let is_plain = filter.status.is_none() && filter.job_type.is_none();
        let plain = i32::try_from(limit + 1).unwrap_or(FILTERED_PAGE);
        query = query.limit(if is_plain { plain } else { FILTERED_PAGE });
        let mut ids = Vec::new();
        for _ in 0..MAX_PAGES {
            let Some(found) = query.next_page().await? else { break };
            ids.extend(found.iter().filter_map(rows::own_id));
            if ids.len() > limit {
                break;
            }
        }
        Ok(PartialList { ids, stopped_at: query.last_key().and_then(rows::own_id) })
    }
}
