//! Jobs as rows.

use domain::Result;
use domain::jobs::{AuditRecord, Job, JobId, JobPriority, JobStatus, JobTypeName, WorkerId};
use serde::Serialize;
use store::{IndexKeys, Item, Key, Row, plain, text_of};

/// How long an ended job and its audit records are kept.
const RETENTION_SECONDS: i64 = 90 * 86_400;

/// Partitions of the index of all jobs: each takes 1,000 writes a second.
pub(super) const LIST_PARTITIONS: u8 = 4;

fn job_key(id: &JobId, sk: impl Into<String>) -> Key {
    Key::new(format!("job#{}", id.as_str()), sk)
}

pub(super) fn job(id: &JobId) -> Key {
    job_key(id, "job")
}

pub(super) fn payload(id: &JobId) -> Key {
    job_key(id, "payload")
}

pub(super) fn event(id: &JobId, version: u64) -> Key {
    job_key(id, format!("event#{version:08}"))
}

pub(super) fn child(parent: &JobId, child: &JobId) -> Key {
    job_key(parent, format!("child#{}", child.as_str()))
}

pub(super) fn licence(job_type: &JobTypeName, shard: u8) -> Key {
    Key::new(format!("licence#{}#{shard}", job_type.as_str()), "licence")
}

pub(super) fn holder(job_type: &JobTypeName, shard: u8, id: &JobId) -> Key {
    Key { sk: format!("holder#{}", id.as_str()), ..licence(job_type, shard) }
}

pub(super) fn owner_list(owner: &str) -> String {
    format!("owner#{owner}")
}

pub(super) fn all_jobs_list(list: u8) -> String {
    format!("jobs#{list}")
}

pub(super) fn queue_list(job_type: &JobTypeName, priority: JobPriority) -> String {
    format!("queued#{}#{}", job_type.as_str(), priority.name())
}

/// Sorts by time, also with a suffix.
pub(super) fn sortable_time(at: domain::Timestamp) -> String {
    format!("{:013}", at.as_millisecond().max(0))
}

/// A job with its places in the indexes.
pub(super) struct JobRow<'a>(pub(super) &'a Job);

impl Row for JobRow<'_> {
    fn key(&self) -> Key {
        job(&self.0.id)
    }

    fn attributes(&self) -> Result<Item> {
        plain(self.0)
    }

    fn index_keys(&self) -> IndexKeys {
        let (job, id) = (self.0, self.0.id.as_str());
        let partition = job.id.partition(LIST_PARTITIONS);
        let work = match job.status {
            JobStatus::Queued => Some((queue_list(&job.job_type, job.priority), job.ready_at)),
            JobStatus::Waiting => Some((format!("waiting#{partition}"), job.created_at)),
            JobStatus::Completed | JobStatus::Failed | JobStatus::Cancelled
                if !job.end_announced =>
            {
                Some((format!("ended#{partition}"), job.ended_at.unwrap_or(job.created_at)))
            }
            JobStatus::Assigned
            | JobStatus::Running
            | JobStatus::Completed
            | JobStatus::Failed
            | JobStatus::Cancelled => None,
        };
        [
            Some((owner_list(job.owner.as_str()), id.to_owned())),
            work.map(|(list, at)| (list, format!("{}#{id}", sortable_time(at)))),
            Some((all_jobs_list(partition), id.to_owned())),
        ]
    }

    fn expires(&self) -> Option<i64> {
        self.0.ended_at.map(|at| at.as_second() + RETENTION_SECONDS)
    }
}

/// A change of a job, named by the version that it made.
pub(super) struct RecordRow<'a>(pub(super) &'a JobId, pub(super) &'a AuditRecord);

impl Row for RecordRow<'_> {
    fn key(&self) -> Key {
        event(self.0, self.1.version)
    }

    fn attributes(&self) -> Result<Item> {
        plain(self.1)
    }

    fn expires(&self) -> Option<i64> {
        Some(self.1.at.as_second() + RETENTION_SECONDS)
    }
}

#[derive(Serialize)]
pub(super) struct PayloadRow<'a> {
    #[serde(skip)]
    pub(super) job: &'a Job,
    pub(super) payload: &'a str,
}

impl Row for PayloadRow<'_> {
    fn key(&self) -> Key {
        payload(&self.job.id)
    }

    fn attributes(&self) -> Result<Item> {
        plain(self)
    }

    /// A month later than its job's, so that a job never loses its payload.
    fn expires(&self) -> Option<i64> {
        Some(self.job.ready_at.as_second() + RETENTION_SECONDS + 30 * 86_400)
    }
}

/// The second job depends on the first.
pub(super) struct EdgeRow<'a>(pub(super) &'a JobId, pub(super) &'a JobId);

impl Row for EdgeRow<'_> {
    fn key(&self) -> Key {
        child(self.0, self.1)
    }

    fn attributes(&self) -> Result<Item> {
        Ok(Item::new())
    }
}

/// A job that holds a licence of a shard.
pub(super) struct HolderRow<'a>(pub(super) &'a Job, pub(super) u8);

impl Row for HolderRow<'_> {
    fn key(&self) -> Key {
        holder(&self.0.job_type, self.1, &self.0.id)
    }

    fn attributes(&self) -> Result<Item> {
        #[derive(Serialize)]
        struct Holder<'a> {
            attempt: u32,
            #[serde(skip_serializing_if = "Option::is_none")]
            due: Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            worker: Option<&'a str>,
        }
        let job = self.0;
        let worker = job.worker.as_ref().map(WorkerId::as_str);
        plain(&Holder {
            attempt: job.attempt,
            due: job.check_due_at().map(|at| at.to_string()),
            worker,
        })
    }
}

/// The id that follows `prefix` in a row's key.
pub(super) fn id_of(item: &Item, attribute: &str, prefix: &str) -> Option<JobId> {
    JobId::parse(text_of(item, attribute)?.strip_prefix(prefix)?)
}

/// The job that a row of it names.
pub(super) fn own_id(item: &Item) -> Option<JobId> {
    id_of(item, "pk", "job#")
}
