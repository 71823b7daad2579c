//! Jobs: work that is handed to one worker at a time, watched, and never lost.

pub mod dispatch;
mod engine;
pub mod http;
pub mod store;
pub mod sweep;
pub mod work;

use boundary::System;

/// What is registered of it.
pub fn system() -> System {
    System::new(
        "jobs",
        "Jobs",
        "Work that is handed to one worker at a time, watched, and never lost.",
    )
    .http("jobs", http::function, http::operations)
    .queue("dispatch", dispatch::function)
    .queue("work", work::function)
    .schedule("sweep-jobs", sweep::function)
    .table(&store::TABLE)
    .example("curl -XPOST $SWITCHYARD_URL/api/v1/jobs -H \"$A\" -d '{\"jobType\":\"echo\"}'")
}
