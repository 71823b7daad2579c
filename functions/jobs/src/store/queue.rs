//! What someone has to look at: jobs that may run, that wait, or whose end is not told.

use domain::jobs::{Job, JobId, Priority, TypeName};
use domain::{Failure, Timestamp};
use store::schema::GSI2;
use store::{ALWAYS, Query, SweepWalk};

use super::Jobs;
use super::rows::{self, LISTS};

/// Edges read at once.
const PAGE: i32 = 100;

impl Jobs {
    /// The first `limit` jobs of a type and priority that may run at `now`, oldest first. An index may
    /// be a moment behind: whoever assigns one of them names the version it has here.
    pub async fn ready(
        &self,
        kind: &TypeName,
        priority: Priority,
        now: Timestamp,
        limit: i32,
    ) -> Result<Vec<Job>, Failure> {
        let queue = rows::queue_of(kind, priority);
        self.until("read the queue", queue, now).limit(limit).page().await
    }

    /// How many jobs of a type and priority became ready until `until`, counted up to `most`.
    pub async fn count_ready(
        &self,
        kind: &TypeName,
        priority: Priority,
        until: Timestamp,
        most: i32,
    ) -> Result<u64, Failure> {
        let queue = rows::queue_of(kind, priority);
        self.until("count the queue", queue, until).limit(most).count().await
    }

    /// Jobs that ended before `before` and whose end was not told to everyone, oldest first.
    pub async fn unsettled(&self, before: Timestamp, limit: i32) -> Result<Vec<JobId>, Failure> {
        let mut ids = Vec::new();
        for list in 0..LISTS {
            let mut ends = self
                .until("read which ends are untold", format!("ended#{list}"), before)
                .limit(limit);
            ids.extend(ends.next_page().await?.iter().flatten().filter_map(rows::own_id));
        }
        Ok(ids)
    }

    /// The walk through jobs that wait, up to `limit` of each list in a run.
    pub fn waiting(&self, limit: i32) -> SweepWalk<'_, Job> {
        self.table.walk("waiting", (0..LISTS).map(|list| format!("waiting#{list}")), limit)
    }

    /// Jobs that wait for `parent` and were not told of its end; at most a hundred, so ask again.
    pub async fn children(&self, parent: &JobId) -> Result<Vec<JobId>, Failure> {
        let keys = "pk = :pk AND begins_with(sk, :child)";
        let edges = self.table.query("read who waits for the job", keys);
        let edges = edges.with(":pk", rows::job(parent).pk).with(":child", "child#");
        let found = edges.limit(PAGE).next_page().await?;
        Ok(found.iter().flatten().filter_map(|edge| rows::id_of(edge, "sk", "child#")).collect())
    }

    /// Forgets an edge that there is nothing to do about.
    pub async fn forget_child(&self, parent: &JobId, child: &JobId) -> Result<(), Failure> {
        let edge = rows::child(parent, child);
        self.table.delete(edge, ALWAYS, "forget who waited for the job").await
    }

    fn until(&self, action: &'static str, list: String, until: Timestamp) -> Query<'_> {
        let query = self.table.query(action, "gsi2pk = :list AND gsi2sk < :until").index(GSI2);
        // `~` comes after the `#` that follows every time.
        query.with(":list", list).with(":until", format!("{}~", rows::moment(until)))
    }
}
