//! DynamoDB (and S3, where bytes are only kept): the machinery that every system's store is made of, and the
//! rows that the boundary itself needs.
//!
//! Each method is one request (or one transaction) whose condition expression is the rule. A lost
//! condition is an outcome in `Ok`, never an error; an `Err` is a [`domain::Failure`]. Every write
//! either names the state it leaves or may be repeated without changing anything, because the SDK
//! retries requests whose first attempt may have been committed.

pub mod accounts;
pub mod bucket;
pub mod capacity;
pub mod idempotency;
pub mod ids;
pub mod items;
pub mod limits;
mod lost_condition;
pub mod row;
pub mod schema;
mod table;
pub mod transaction;

pub use accounts::Accounts;
pub use bucket::Bucket;
pub use idempotency::Idempotency;
pub use ids::IdLeases;
pub use limits::Limits;
pub use lost_condition::ignore_lost_condition;
pub use row::Item;
pub use table::{
    ABSENT, ALWAYS, Condition, FailedConditions, IndexKeys, IntoAttribute, Key, PRESENT, Query,
    Row, SweepWalk, Table, TryOutcome, Tx, TxOutcome, Updated, given, plain, read, text_of,
};
