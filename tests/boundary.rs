//! The edge of every function: what a broken handler does, what a repeated request is.

mod edge;
mod idempotency;
