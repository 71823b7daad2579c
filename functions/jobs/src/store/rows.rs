//! Jobs as rows.

use domain::Failure;
use domain::jobs::{Job, JobId, Priority, Record, Status, TypeName, Worker};
use serde::Serialize;
use store::{IndexKeys, Item, Key, Row, plain, text_of};

/// How long what has ended, and its trail, are kept.
const KEPT_SECONDS: i64 = 90 * 86_400;

/// Over how many lists the index of everything is spread: a list takes 1,000 writes a second.
pub(super) const LISTS: u8 = 4;

fn of_job(id: &JobId, sk: impl Into<String>) -> Key {
    Key::new(format!("job#{}", id.as_str()), sk)
}

pub(super) fn job(id: &JobId) -> Key {
    of_job(id, "job")
}

pub(super) fn payload(id: &JobId) -> Key {
    of_job(id, "payload")
}

pub(super) fn event(id: &JobId, version: u64) -> Key {
    of_job(id, format!("event#{version:08}"))
}

pub(super) fn child(parent: &JobId, child: &JobId) -> Key {
    of_job(parent, format!("child#{}", child.as_str()))
}

pub(super) fn licence(kind: &TypeName, shard: u8) -> Key {
    Key::new(format!("licence#{}#{shard}", kind.as_str()), "licence")
}

pub(super) fn holder(kind: &TypeName, shard: u8, id: &JobId) -> Key {
    Key { sk: format!("holder#{}", id.as_str()), ..licence(kind, shard) }
}

pub(super) fn owner_list(owner: &str) -> String {
    format!("owner#{owner}")
}

pub(super) fn everyones_list(list: u8) -> String {
    format!("jobs#{list}")
}

pub(super) fn queue_of(kind: &TypeName, priority: Priority) -> String {
    format!("queued#{}#{}", kind.as_str(), priority.name())
}

/// Sorts by time; whatever follows a time comes after everything before it.
pub(super) fn moment(at: domain::Timestamp) -> String {
    format!("{:013}", at.as_millisecond().max(0))
}

/// A job with its places in the indexes.
pub(super) struct JobRow<'a>(pub(super) &'a Job);

impl Row for JobRow<'_> {
    fn key(&self) -> Key {
        job(&self.0.id)
    }

    fn attributes(&self) -> Result<Item, Failure> {
        plain(self.0)
    }

    fn index_keys(&self) -> IndexKeys {
        let (job, id) = (self.0, self.0.id.as_str());
        let lot = job.id.lot(LISTS);
        let work = match job.status {
            Status::Queued => Some((queue_of(&job.kind, job.priority), job.ready_at)),
            Status::Waiting => Some((format!("waiting#{lot}"), job.created_at)),
            Status::Completed | Status::Failed | Status::Cancelled if !job.settled => {
                Some((format!("ended#{lot}"), job.ended_at.unwrap_or(job.created_at)))
            }
            Status::Assigned
            | Status::Running
            | Status::Completed
            | Status::Failed
            | Status::Cancelled => None,
        };
        [
            Some((owner_list(job.owner.as_str()), id.to_owned())),
            work.map(|(list, at)| (list, format!("{}#{id}", moment(at)))),
            Some((everyones_list(lot), id.to_owned())),
        ]
    }

    fn expires(&self) -> Option<i64> {
        self.0.ended_at.map(|at| at.as_second() + KEPT_SECONDS)
    }
}

/// A change of a job, named by the version that it made.
pub(super) struct RecordRow<'a>(pub(super) &'a JobId, pub(super) &'a Record);

impl Row for RecordRow<'_> {
    fn key(&self) -> Key {
        event(self.0, self.1.version)
    }

    fn attributes(&self) -> Result<Item, Failure> {
        plain(self.1)
    }

    fn expires(&self) -> Option<i64> {
        Some(self.1.at.as_second() + KEPT_SECONDS)
    }
}

/// What a job is to work on: JSON.
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

    fn attributes(&self) -> Result<Item, Failure> {
        plain(self)
    }

    /// A month more than its job: a row must not outlive what it is for, nor the other way round.
    fn expires(&self) -> Option<i64> {
        Some(self.job.ready_at.as_second() + KEPT_SECONDS + 30 * 86_400)
    }
}

/// The second job waits for the first.
pub(super) struct EdgeRow<'a>(pub(super) &'a JobId, pub(super) &'a JobId);

impl Row for EdgeRow<'_> {
    fn key(&self) -> Key {
        child(self.0, self.1)
    }

    fn attributes(&self) -> Result<Item, Failure> {
        Ok(Item::new())
    }
}

/// A job that holds a licence of a shard.
pub(super) struct HolderRow<'a>(pub(super) &'a Job, pub(super) u8);

impl Row for HolderRow<'_> {
    fn key(&self) -> Key {
        holder(&self.0.kind, self.1, &self.0.id)
    }

    fn attributes(&self) -> Result<Item, Failure> {
        #[derive(Serialize)]
        struct Holder<'a> {
            attempt: u32,
            #[serde(skip_serializing_if = "Option::is_none")]
            due: Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            worker: Option<&'a str>,
        }
        let job = self.0;
        let worker = job.worker.as_ref().map(Worker::as_str);
        plain(&Holder { attempt: job.attempt, due: job.due_at().map(|at| at.to_string()), worker })
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
