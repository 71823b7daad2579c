//! Short links: what they are, where they may lead, how they are named, counted and moved.
//!
//! The rules are here; rows are in `links::store`, the wire in [`clicks`]. Absent: a clock, a random
//! number, a network. Times, keys and a resolver's answers come in as arguments.

pub mod alias;
pub mod clicks;
pub mod code;
pub mod counts;
pub mod domain;
pub mod flush_policy;
pub mod hyper_log_log;
mod labels;
pub mod link;
mod profanity;
pub mod public_ip;
pub mod route;
pub mod scan;
pub mod target;
pub mod transfer;
pub mod user_agent;

pub use clicks::{Click, ClickBatch};
pub use code::Code;
pub use domain::{DomainClaim, DomainName};
pub use flush_policy::FlushPolicy;
pub use labels::{Tags, Utm};
pub use link::{Link, LinkBlock, LinkPreview, LinkTerms, Redirect, Variant};
pub use route::{Decision, Route, RouteVariant, decide};
pub use target::Target;
