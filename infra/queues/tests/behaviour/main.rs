//! What the queues and topics promise, each promise kept and broken under a clock that tests move.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop here")]

mod batches;
mod dead_letters;
mod durability;
mod fairness;
mod long_polls;
mod messages;
mod queues_themselves;
mod refusals;
mod rig;
mod topics;
