//! For people's own workers: takes jobs over HTTP, keeps them alive, and says how they ended.
//!
//! ```no_run
//! # async fn example(key: &str) -> Result<(), Box<dyn std::error::Error>> {
//! use worker::{Context, Done, Job, Worker};
//!
//! Worker::connect("http://localhost:8080", key)?
//!     .job_type("greet")
//!     .at_once(4)
//!     .run(|job: Job, ctx: Context| async move {
//!         let name: String = job.payload()?;
//!         ctx.progress(50);
//!         ctx.upload("greeting.txt", format!("Hello, {name}.")).await?;
//!         Ok(Done::new())
//!     })
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! Guarantee: every word about a job carries the attempt it was given with. Once the API refuses one
//! of them, or none got through for a minute, the handler is told, stopped, and nothing more is said
//! about that job: it is somebody else's. A handler may therefore run twice for one job, never with
//! both runs being counted.
//!
//! What happens to one job is [`run_one`], which speaks through a [`Line`]: over HTTP here, straight
//! to the store in a function of the stack. Absent: logs (see [`Worker::notes`]), the environment,
//! and any clock but tokio's, which tests may pause.

#![warn(missing_docs)]

mod backoff;
mod context;
mod http;
mod job;
mod line;
mod one;
mod pulse;
mod stop;
mod worker;

pub use context::{Cancelled, Context};
pub use http::{Http, NotConnected};
pub use job::{Done, Error, Job};
pub use line::{Action, Answer, Line, Payload, Started, Ticket, Trouble};
pub use one::{Ending, Patience, run_one};
pub use stop::Stop;
pub use worker::{Note, Worker};

#[cfg(test)]
mod tests;
