//! The edge of every function: who gets in, what a broken handler does, what a repeated request is.

mod access;
mod edge;
mod idempotency;
