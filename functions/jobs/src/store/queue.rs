//! Jobs to act on: those that may run, that wait, or whose end is not announced.

use domain::jobs::{Job, JobId, JobPriority, JobTypeName};
use domain::{Result, Timestamp};
use store::schema::GSI2;
use store::{ALWAYS, Query, SweepWalk};

use super::Jobs;
use super::rows::{self, LIST_PARTITIONS};

/// Edges read at once.
const PAGE: i32 = 100;

impl Jobs {
    /// The first `limit` jobs of a type and priority that may run at `now`, oldest first. The index is
    /// eventually consistent: an assignment is conditional on the version that was read here.
    pub async fn ready_jobs(
        &self,
        job_type: &JobTypeName,
        priority: JobPriority,
        now: Timestamp,
        limit: i32,
    ) -> Result<Vec<Job>> {
        let queue = rows::queue_list(job_type, priority);
        self.due_before("read the queue", queue, now).limit(limit).page().await
    }

    /// How many jobs of a type and priority became ready until `until`, counted up to `max`.
    pub async fn count_ready(
        &self,
        job_type: &JobTypeName,
        priority: JobPriority,
        until: Timestamp,
        max: i32,
    ) -> Result<u64> {
        let queue = rows::queue_list(job_type, priority);
        self.due_before("count the queue", queue, until).limit(max).count().await
    }

    /// Jobs that ended before `before` and whose end is not announced, oldest first.
    pub async fn unannounced_ends(&self, before: Timestamp, limit: i32) -> Result<Vec<JobId>> {
        let mut ids = Vec::new();
        for list in 0..LIST_PARTITIONS {
            let mut ends = self
                .due_before("read which ends are untold", format!("ended#{list}"), before)
                .limit(limit);
            ids.extend(ends.next_page().await?.iter().flatten().filter_map(rows::own_id));
        }
        Ok(ids)
    }

    /// The walk through waiting jobs, up to `limit` of each list in a run.
    pub fn walk_waiting(&self, limit: i32) -> SweepWalk<'_, Job> {
        self.table.walk(
            "waiting",
            (0..LIST_PARTITIONS).map(|list| format!("waiting#{list}")),
            limit,
        )
    }

    /// Up to a hundred jobs that depend on `parent` and have not counted its end.
    pub async fn children(&self, parent: &JobId) -> Result<Vec<JobId>> {
        let keys = "pk = :pk AND begins_with(sk, :child)";
        let edges = self.table.query("read the job's children", keys);
        let edges = edges.with(":pk", rows::job(parent).pk).with(":child", "child#");
        let found = edges.limit(PAGE).next_page().await?;
        Ok(found.iter().flatten().filter_map(|edge| rows::id_of(edge, "sk", "child#")).collect())
    }

    /// Deletes an edge whose child needs no update.
    pub async fn remove_child(&self, parent: &JobId, child: &JobId) -> Result {
        let edge = rows::child(parent, child);
        self.table.delete(edge, ALWAYS, "delete a child edge").await
    }

    fn due_before(&self, action: &'static str, list: String, until: Timestamp) -> Query<'_> {
        let query = self.table.query(action, "gsi2pk = :list AND gsi2sk < :until").index(GSI2);
        // `~` comes after the `#` that follows every time.
        query.with(":list", list).with(":until", format!("{}~", rows::sortable_time(until)))
    }
}
