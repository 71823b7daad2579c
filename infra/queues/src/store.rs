//! What is kept in `SQLite`, one file per noun. Each adds methods to [`Tx`](crate::engine::Tx),
//! and so can only be reached from inside a transaction.

pub(crate) mod messages;
pub(crate) mod moves;
pub(crate) mod queues;
pub(crate) mod receive;
pub(crate) mod schema;
pub(crate) mod subscriptions;
pub(crate) mod topics;
