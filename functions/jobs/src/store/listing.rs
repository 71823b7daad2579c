//! Jobs, newest first: someone's, or everyone's.

use domain::Failure;
use domain::accounts::UserId;
use domain::jobs::{Job, JobId, Status, TypeName};
use store::accounts::Page;
use store::schema::{GSI1, GSI3};

use super::Jobs;
use super::rows::{self, LISTS};

/// Pages read of one list for one answer at most: a filter that matches little must not read all.
const PAGES: usize = 8;

/// Entries looked at for one page.
const LOOKED_AT: i32 = 250;

#[derive(Debug, Clone, Copy)]
pub enum Whose<'a> {
    Of(&'a UserId),
    Everyones,
}

/// What a listed job must have.
#[derive(Debug, Clone, Default)]
pub struct JobFilter {
    pub status: Option<Status>,
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
            let stretch = self.stretch((index, list), filter, limit, after).await?;
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
        (index, list): (&'static str, String),
        filter: &JobFilter,
        limit: usize,
        after: Option<&str>,
    ) -> Result<Stretch, Failure> {
        let keys = format!("{index}pk = :list AND {index}sk < :after");
        let query = self.table.query("list the jobs", keys).index(index).backwards();
        let mut query = query.with(":list", list).with(":after", after.unwrap_or("~"));
        if let Some(status) = filter.status {
            query = query.filter("#status = :status").with(":status", status.name());
        }
        if let Some(kind) = &filter.kind {
            query = query.filter("kind = :kind").with(":kind", kind.as_str());
        }
        let is_plain = filter.status.is_none() && filter.kind.is_none();
        let plain = i32::try_from(limit + 1).unwrap_or(LOOKED_AT);
        query = query.limit(if is_plain { plain } else { LOOKED_AT });
        let mut ids = Vec::new();
        for _ in 0..PAGES {
            let Some(found) = query.next_page().await? else { break };
            ids.extend(found.iter().filter_map(rows::own_id));
            if ids.len() > limit {
                break;
            }
        }
        Ok(Stretch { ids, stopped_at: query.last_key().and_then(rows::own_id) })
    }
}
