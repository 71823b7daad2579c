//! What can happen in the small world, what must not, and which rules can be broken.

/// A rule of the protocol that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Mutation {
    EndedCheckDropped,
    RenewalCheckDropped,
    EndOfIntervalIgnored,
    StartOfIntervalIgnored,
    SequenceRestartsOnStepBack,
    TiersOverlap,
    LostAnswerAssumedGood,
    AnyHolderTrusted,
    RowsExpire,
    MemoryCopiedAfterLeasing,
    LastIdForgottenOnRelet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Violation {
    Duplicate,
    Disorder,
}

/// One event, at one node where that matters.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// A node reads its clock and puts a claim on the wire.
    Propose { node: usize, shard: usize, now_ms: u64 },
    /// A node puts the renewal of its lease on the wire.
    Renew { node: usize, now_ms: u64 },
    /// The claim reaches the store and the answer reaches the node.
    Answered { node: usize },
    /// The claim reaches the store, perhaps late or again, and no answer comes.
    Delivered { node: usize },
    /// A node stops waiting for an answer; its claim may still be on the wire.
    GiveUp { node: usize },
    /// A node reads its clock and issues an id if it can.
    Issue { node: usize, now_ms: u64 },
    /// A row disappears (only if broken).
    Expire { shard: usize },
    /// Another node becomes a copy of this one (only if broken).
    Copy { node: usize },
}
