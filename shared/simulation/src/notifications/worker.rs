//! A worker: what it holds, and what it is at.

use std::collections::VecDeque;

use domain::notifications::Priority;
use domain::notifications::rate::{Lease, SlotCounters, Slots};

/// What a worker is at.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stage {
    /// It looks for messages.
    Idle,
    /// Its question for the row arrives.
    Reads,
    /// It knows the row.
    Decides(SlotCounters),
    /// Its write arrives.
    Writes(Lease),
    /// It has slots.
    Sends(Slots),
}

#[derive(Debug)]
pub(super) struct Worker {
    pub(super) priority: Priority,
    pub(super) stage: Stage,
    /// When each message that it holds came.
    pub(super) messages: VecDeque<i64>,
    /// How often in a row it got no slot.
    pub(super) misses: u32,
}

impl Worker {
    pub(super) const fn new(priority: Priority) -> Self {
        Self { priority, stage: Stage::Idle, messages: VecDeque::new(), misses: 0 }
    }
}
