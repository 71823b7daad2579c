//! Handing jobs out: the first of the queue, as far as there are licences.

use domain::jobs::licence::{Licence, is_stale};
use domain::jobs::order::merge;
use domain::jobs::{
    Actor, Decision, Event, Job, JobId, JobType, Priority, Record, Status, Worker, transition,
};
use domain::{Failure, Timestamp};

use super::Engine;
use crate::store::{Change, Committed};

/// Jobs looked at for one that is wanted.
const SEEN_AT_LEAST: usize = 8;

/// What was handed out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Assigned {
    /// These jobs, in order.
    pub(crate) jobs: Vec<Job>,
    /// Whether there may be more to hand out.
    pub(crate) more: bool,
}

impl Engine {
    /// Assigns up to `most` jobs of a type, the first of its queue first; to `worker`, if one asked.
    /// `also` are jobs that the queue's index may not show yet.
    pub(crate) async fn assign(
        &self,
        kind: &JobType,
        worker: Option<&Worker>,
        also: &[JobId],
        most: usize,
        now: Timestamp,
    ) -> Result<Assigned, Failure> {
        let mut rows = self.rows_with_room(kind).await?;
        let room: usize = rows.iter().map(|row| row.room() as usize).sum();
        let wanted = most.min(room);
        if wanted == 0 {
            return Ok(Assigned::default());
        }
        // Others take from the same heads: who only looks at as many as are wanted goes away with fewer.
        let looked_at = wanted.max(SEEN_AT_LEAST);
        let limit = i32::try_from(looked_at).unwrap_or(i32::MAX);
        let mut lists = Vec::new();
        for priority in Priority::ALL {
            lists.push(self.jobs.ready(&kind.name, priority, now, limit).await?);
        }
        self.add_missing(&mut lists, kind, also, now).await?;
        let by = worker.map_or(Actor::System, |worker| Actor::Worker(worker.clone()));
        let first = merge(lists, now, kind.settings.aging_seconds, looked_at);
        let mut assigned = Assigned::default();
        for before in first {
            if assigned.jobs.len() == wanted {
                break;
            }
            let Some(row) = rows.iter_mut().max_by_key(|row| row.room()) else { break };
            if row.room() == 0 {
                break;
            }
            let event = Event::Assigned { shard: row.shard, worker: worker.cloned() };
            let Decision::Become(after) = transition(&before, &event, now) else { continue };
            let record = Record::change(&after, event, by.clone(), now);
            let change = Change {
                before: &before,
                after: &after,
                record: &record,
                dependency: None,
                limit: kind.settings.max_concurrent,
            };
            match self.jobs.commit(change, &self.entropy.token()).await? {
                Committed::Done => {
                    row.in_use += 1;
                    assigned.jobs.push(*after);
                }
                // Others take licences too: this row has none any more.
                Committed::NoLicence => row.in_use = row.max,
                Committed::Moved | Committed::Counted => {}
            }
        }
        assigned.more = assigned.jobs.len() == wanted;
        Ok(assigned)
    }

    /// Adds jobs that are ready and that the lists lack.
    async fn add_missing(
        &self,
        lists: &mut [Vec<Job>],
        kind: &JobType,
        also: &[JobId],
        now: Timestamp,
    ) -> Result<(), Failure> {
        let shown = |id: &JobId| lists.iter().flatten().any(|job| job.id == *id);
        let missing: Vec<JobId> = also.iter().filter(|id| !shown(id)).cloned().collect();
        if missing.is_empty() {
            return Ok(());
        }
        let is_ready = |job: &Job| {
            job.status == Status::Queued && job.kind == kind.name && job.ready_at <= now
        };
        for job in self.jobs.find_all(&missing).await?.into_iter().filter(is_ready) {
            if let Some(list) = lists.get_mut(usize::from(job.priority.level())) {
                list.push(job);
                list.sort_by(|a, b| (a.ready_at, &a.id).cmp(&(b.ready_at, &b.id)));
            }
        }
        Ok(())
    }

    /// The rows of a type's licences, shared out anew if some are free that no row may give.
    async fn rows_with_room(&self, kind: &JobType) -> Result<Vec<Licence>, Failure> {
        let rows = self.jobs.licences(kind).await?;
        let settings = kind.settings;
        if rows.len() == 1 || !is_stale(settings.max_concurrent, settings.shards, &rows) {
            return Ok(rows);
        }
        self.jobs.reallot(kind, &rows, &self.entropy.token()).await?;
        self.jobs.licences(kind).await
    }
}
