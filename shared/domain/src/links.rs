//! Short links: what they are, where they may lead, how they are named, counted and moved.
//!
//! The rules are here; rows are in `store::links`, the wire in [`clicks`]. Absent: a clock, a random
//! number, a network. Times, keys and a resolver's answers come in as arguments.

pub mod address;
pub mod agent;
pub mod alias;
pub mod clicks;
pub mod code;
pub mod counts;
pub mod domain;
pub mod hold;
mod labels;
pub mod link;
pub mod route;
pub mod scan;
mod screen;
pub mod sketch;
pub mod target;
pub mod transfer;

pub use clicks::{Click, ClickBatch};
pub use code::Code;
pub use domain::{Claim, DomainName};
pub use hold::Hold;
pub use labels::{Tags, Utm};
pub use link::{Block, Link, Preview, Redirect, Terms};
pub use route::{Decision, Route, Way, decide};
pub use target::Target;

/// What a caller got wrong about links.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// A field breaks a rule.
    #[error("`{field}` must be {rule}")]
    Field {
        field: String,
        /// What it must be.
        rule: String,
    },
    /// Another link has that alias.
    #[error("the alias is taken")]
    AliasTaken,
    /// No such link, or not theirs.
    #[error("there is no such link")]
    UnknownLink,
    /// No such domain, or not theirs, or not proven.
    #[error("there is no such domain")]
    UnknownDomain,
    /// Another account has proven it controls the domain.
    #[error("the domain is someone else's")]
    DomainTaken,
    /// Links still live on the domain.
    #[error("links still live on the domain")]
    DomainInUse,
    /// The proof was not found in the domain's DNS.
    #[error("the proof was not found at {0}")]
    NotProven(String),
    /// The destination is on the blocklist.
    #[error("the destination is blocked")]
    Blocklisted,
    /// It changed since it was read.
    #[error("it has changed since it was read")]
    Moved,
    /// The link is not deleted, or not for 30 days any more.
    #[error("there is nothing to undo")]
    NothingToUndo,
}

impl Rejected {
    /// `field` must be something else.
    #[expect(clippy::needless_pass_by_value, reason = "rules are texts or errors made on the spot")]
    pub fn field(field: impl Into<String>, rule: impl ToString) -> Self {
        Self::Field { field: field.into(), rule: rule.to_string() }
    }
}
