//! 64-bit ids that are unique everywhere and sorted by time, from machine numbers that are leased.
//!
//! A Lambda environment comes, freezes and thaws, so no operator can configure a machine number can be configured for it. It
//! leases one instead: an interval of timestamps on one [`MachineShard`], taken with a single
//! conditional write. An id's timestamp has to lie inside its holder's interval, and the intervals
//! of one shard never overlap. Uniqueness therefore needs no agreement between clocks, only that
//! write.
//!
//! ```text
//!             propose              the store commits            clock ≥ until
//!  (no lease) ───────▶ LeaseClaim ───────────────────▶ IdLease ───────────────▶ Exhausted
//!      ▲                │                               │  ▲                     │
//!      │  resolve: Lost │  resolve: Held (own write     │  │ renewal, set_lease  │
//!      ├────────────────┤  committed, answer was lost)  └──┘                     │
//!      │                └─────────────────────────────▶ IdLease                  │
//!      └─────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! A caller without a lease asks [`shard_to_try`] for a shard, [`propose`]s an interval on it,
//! writes the [`LeaseClaim`] under the claim's own condition, and feeds the [`IdLease`] to a
//! [`Generator`]. To abandon a lease it forgets it: nothing has to be written, the interval simply
//! passes.
//!
//! # Invariants, as absences
//!
//! - No two leases of one shard share a millisecond, even with wrong clocks: a claim is only written
//!   if it starts at or after the end of the shard's last interval.
//! - No two shards share a (machine id, sequence) pair: whole ids and split ids are different ids.
//! - No id carries a timestamp outside its lease, so a node thawed an hour later issues nothing.
//! - No row's end ever moves back and no row is ever deleted or expired: the end is the memory of
//!   which timestamps are spent, and a slow clock would spend them again.
//! - No lease is assumed. A write whose answer was lost counts only if the row names its request.
//! - No `Clone` on [`LeaseClaim`], [`IdLease`] or [`Generator`]: a copy would issue the same ids. A copied
//!   process would too, so a lease is taken lazily, after the environment has started, and its
//!   [`RequestId`] is drawn from the operating system at that moment.
//! - No generator goes back: across clock steps and changes of shards each id exceeds the one before.
//! - No generator runs ahead of the clock it is shown: a spent millisecond is waited out.

mod base62;
mod generator;
mod id;
mod lease;
mod machine;
#[cfg(test)]
mod model;

pub use generator::{Fill, Generator, MAX_CLOCK_WAIT_MS, NextId, Pause};
pub use id::{EPOCH_MS, ERA_END_MS, Id, IdParts, InvalidId};
pub use lease::{
    ClaimOutcome, IdLease, LEASE_MS, LeaseClaim, LeaseCondition, LeaseRow, Proposal, RequestId,
    propose,
};
pub use machine::{
    MACHINE_SHARDS, MACHINES, MachineId, MachineShard, SequenceRange, WHOLE_MACHINES, shard_to_try,
};
