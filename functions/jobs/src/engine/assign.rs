//! Assigning jobs: the first of a type's queue, as far as there are licences.

use domain::jobs::aging::merge_by_level;
use domain::jobs::licence::{LicenceShard, needs_rebalance};
use domain::jobs::{
    Actor, AuditRecord, Job, JobDecision, JobEvent, JobId, JobPriority, JobStatus, JobType,
    WorkerId, transition,
};
use domain::{Result, Timestamp};

use super::Engine;
use crate::store::{CommitOutcome, JobChange};

/// Candidates read for one assignment: concurrent assigners take from the same heads, and one that read no
/// more than it assigns would lose most of its races.
const MIN_CANDIDATES: usize = 8;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Assigned {
    pub(crate) jobs: Vec<Job>,
    /// Whether there may be more to assign.
    pub(crate) more: bool,
}

impl Engine {
    /// Assigns up to `max` jobs of a type, in the order of its queue; to `worker`, if one claims them.
    /// `unindexed` are jobs that the queue's index may not show yet.
    pub(crate) async fn assign(
        &self,
        job_type: &JobType,
        worker: Option<&WorkerId>,
        unindexed: &[JobId],
        max: usize,
        now: Timestamp,
    ) -> Result<Assigned> {
        let mut rows = self.balanced_licences(job_type).await?;
        let available: usize = rows.iter().map(|row| row.available() as usize).sum();
        let wanted = max.min(available);
        if wanted == 0 {
            return Ok(Assigned::default());
        }
        let candidates = wanted.max(MIN_CANDIDATES);
        let limit = i32::try_from(candidates).unwrap_or(i32::MAX);
        let mut lists = Vec::new();
        for priority in JobPriority::ALL {
            lists.push(self.jobs.ready_jobs(&job_type.name, priority, now, limit).await?);
        }
        self.add_unindexed(&mut lists, job_type, unindexed, now).await?;
        let by = worker.map_or(Actor::System, |worker| Actor::Worker(worker.clone()));
        let aging = job_type.settings.aging_seconds;
        let mut assigned = Assigned::default();
        for before in merge_by_level(lists, now, aging, candidates) {
            if assigned.jobs.len() == wanted {
                break;
            }
            let Some(row) = rows.iter_mut().max_by_key(|row| row.available()) else { break };
            if row.available() == 0 {
                break;
            }
            let event = JobEvent::Assigned { shard: row.shard, worker: worker.cloned() };
            let JobDecision::Change(after) = transition(&before, &event, now) else { continue };
            let record = AuditRecord::change(&after, event, by.clone(), now);
            let change = JobChange {
                before: &before,
                after: &after,
                record: &record,
                dependency: None,
                limit: job_type.settings.max_concurrent,
            };
            match self.jobs.commit(change, &self.entropy.token()).await? {
                CommitOutcome::Committed => {
                    row.in_use += 1;
                    assigned.jobs.push(*after);
                }
                // Concurrent assigners took the last licences of this row.
                CommitOutcome::NoLicence => row.in_use = row.max,
                CommitOutcome::Conflict | CommitOutcome::AlreadyCounted => {}
            }
        }
        assigned.more = assigned.jobs.len() == wanted;
        Ok(assigned)
    }

    /// Adds ready jobs that the lists lack.
    async fn add_unindexed(
        &self,
        lists: &mut [Vec<Job>],
        job_type: &JobType,
        unindexed: &[JobId],
        now: Timestamp,
    ) -> Result {
        let shown = |id: &JobId| lists.iter().flatten().any(|job| job.id == *id);
        let missing: Vec<JobId> = unindexed.iter().filter(|id| !shown(id)).cloned().collect();
        if missing.is_empty() {
            return Ok(());
        }
        let is_ready = |job: &Job| {
            job.status == JobStatus::Queued && job.job_type == job_type.name && job.ready_at <= now
        };
        for job in self.jobs.find_all(&missing).await?.into_iter().filter(is_ready) {
            if let Some(list) = lists.get_mut(usize::from(job.priority.level())) {
                list.push(job);
                list.sort_by(|a, b| (a.ready_at, &a.id).cmp(&(b.ready_at, &b.id)));
            }
        }
        Ok(())
    }

    /// A type's licences, split anew if some are free that no row may give.
    async fn balanced_licences(&self, job_type: &JobType) -> Result<Vec<LicenceShard>> {
        let rows = self.jobs.licence_shards(job_type).await?;
        let settings = job_type.settings;
        if rows.len() == 1
            || !needs_rebalance(settings.max_concurrent, settings.licence_shards, &rows)
        {
            return Ok(rows);
        }
        self.jobs.rebalance_licences(job_type, &rows, &self.entropy.token()).await?;
        self.jobs.licence_shards(job_type).await
    }
}
