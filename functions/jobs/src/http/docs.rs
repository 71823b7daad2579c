//! The sentences about this function in the OpenAPI document.

use boundary::openapi::{Doc, shape};

use crate::http::bulk::{Bulk, BulkView};
use crate::http::listing::{JobsView, ListQuery};
use crate::http::read::{ExplainView, TrailQuery, TrailView};
use crate::http::submit::{NewJob, SubmittedView};
use crate::http::types::{TypeBody, TypeView, TypesView};
use crate::http::view::JobView;
use crate::http::workers::{
    BeatBody, BeatView, ClaimBody, ClaimView, CompleteBody, FailBody, StartBody, TaskView,
    UploadBody, UploadView,
};

/// What the section is about.
pub const ABOUT: &str = "Work that is handed to one worker at a time, watched, and never lost.";

const JOB: (&str, &str) = ("jobId", "The job.");
const TYPE: (&str, &str) = (
    "jobType",
    "The type: 1 to 64 of a-z, 0-9, `.`, `_` and `-`, starting with a letter or digit.",
);
const ONCE: (&str, &str, bool) = (
    "Idempotency-Key",
    "A repeat with the same key and body within 24 hours gets the first answer.",
    false,
);
const IF_MATCH: (&str, &str, bool) =
    ("If-Match", "The `ETag` of the version you read; any version if left out.", false);

/// One entry an operation.
pub fn docs() -> Vec<Doc> {
    let mut docs = submitting();
    docs.extend(looking());
    docs.extend(types());
    docs.extend(working());
    docs
}

fn submitting() -> Vec<Doc> {
    vec![
        Doc {
            description: "Its id comes back at once; watch it with `GET /api/v1/jobs/{jobId}`.",
            headers: &[ONCE],
            body: Some(shape::<NewJob>()),
            status: 201,
            answer: Some(shape::<SubmittedView>()),
            problems: &[409, 413],
            ..Doc::new("submitJob", "Submit a job")
        },
        Doc {
            description: "Each is answered on its own, in the order they were sent. A job may have a \
                          `name`, and the others may depend on `@name`; a cycle is refused with its \
                          members.",
            body: Some(shape::<Bulk>()),
            answer: Some(shape::<BulkView>()),
            problems: &[413],
            ..Doc::new("submitJobs", "Submit up to 100 jobs")
        },
        Doc {
            description: "At once if it does not run. If it does, its worker hears of it at its next \
                          heartbeat, and it is CANCELLED when the worker has stopped.",
            path: &[JOB],
            answer: Some(shape::<JobView>()),
            problems: &[404, 409],
            ..Doc::new("cancelJob", "Cancel a job")
        },
        Doc {
            description: "A FAILED or CANCELLED job runs again under the same id. Attempts count on, and \
                          it gets as many as at first.",
            path: &[JOB],
            answer: Some(shape::<JobView>()),
            problems: &[404, 409],
            ..Doc::new("retryJob", "Run a job again")
        },
    ]
}

fn looking() -> Vec<Doc> {
    vec![
        Doc {
            description: "Newest first. Submitters see their own; viewers, workers and admins see all.",
            query: Some(shape::<ListQuery>()),
            answer: Some(shape::<JobsView>()),
            problems: &[403],
            ..Doc::new("listJobs", "List jobs")
        },
        Doc {
            path: &[JOB],
            answer: Some(shape::<JobView>()),
            problems: &[403, 404],
            ..Doc::new("readJob", "How is it?")
        },
        Doc {
            description: "The one reason that, taken away, lets it go on.",
            path: &[JOB],
            answer: Some(shape::<ExplainView>()),
            problems: &[403, 404],
            ..Doc::new("explainJob", "Why is it not running?")
        },
        Doc {
            description: "Every change since its submission, oldest first; kept for 90 days.",
            path: &[JOB],
            query: Some(shape::<TrailQuery>()),
            answer: Some(shape::<TrailView>()),
            problems: &[403, 404],
            ..Doc::new("readJobEvents", "How did it get there?")
        },
    ]
}

fn types() -> Vec<Doc> {
    vec![
        Doc {
            answer: Some(shape::<TypesView>()),
            problems: &[403],
            ..Doc::new("listJobTypes", "List job types")
        },
        Doc {
            path: &[TYPE],
            answer: Some(shape::<TypeView>()),
            problems: &[403, 404],
            ..Doc::new("readJobType", "How many run, how many wait?")
        },
        Doc {
            description: "Takes effect at once. Lowering `maxConcurrent` ends nothing that runs.",
            path: &[TYPE],
            headers: &[IF_MATCH],
            body: Some(shape::<TypeBody>()),
            answer: Some(shape::<TypeView>()),
            problems: &[412, 503],
            ..Doc::new("saveJobType", "Make or change a job type")
        },
    ]
}

fn working() -> Vec<Doc> {
    vec![
        Doc {
            description: "For types whose `delivery` is `poll`. Start each within 60 s, or it goes to \
                          someone else. No jobs means: ask again later.",
            path: &[TYPE],
            body: Some(shape::<ClaimBody>()),
            answer: Some(shape::<ClaimView>()),
            problems: &[404, 409],
            ..Doc::new("claimJobs", "Take jobs to work on")
        },
        Doc {
            description: "409 means that the job is someone else's, or nobody's: leave it.",
            path: &[JOB],
            body: Some(shape::<StartBody>()),
            answer: Some(shape::<TaskView>()),
            problems: &[404, 409],
            ..Doc::new("startJob", "Begin")
        },
        Doc {
            description: "Every 20 s; after 60 s of silence the job goes to someone else.",
            path: &[JOB],
            body: Some(shape::<BeatBody>()),
            answer: Some(shape::<BeatView>()),
            problems: &[404, 409],
            ..Doc::new("beatJob", "Still at it")
        },
        Doc {
            path: &[JOB],
            body: Some(shape::<CompleteBody>()),
            answer: Some(shape::<JobView>()),
            problems: &[404, 409],
            ..Doc::new("completeJob", "Done")
        },
        Doc {
            path: &[JOB],
            body: Some(shape::<FailBody>()),
            answer: Some(shape::<JobView>()),
            problems: &[404, 409],
            ..Doc::new("failJob", "Given up")
        },
        Doc {
            path: &[JOB],
            body: Some(shape::<UploadBody>()),
            answer: Some(shape::<UploadView>()),
            problems: &[404, 409],
            ..Doc::new("addArtifact", "A place for what it leaves")
        },
    ]
}
