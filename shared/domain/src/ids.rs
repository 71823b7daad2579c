//! 64-bit ids that are unique everywhere and sorted by time, from machine numbers that are leased.
//!
//! A Lambda environment comes, freezes and thaws, so no operator can configure a machine number for it.
//! It leases one instead: an interval of timestamps on one [`Lane`], taken with a single conditional
//! write. An id's timestamp has to lie inside its holder's interval, and the intervals of one lane
//! never overlap. Uniqueness therefore needs no agreement between clocks, only that write.
//!
//! ```text
//!             propose             the store commits          clock ≥ until
//!  (no lease) ───────▶ Claim ───────────────────────▶ Lease ───────────────▶ Exhausted
//!      ▲                │                               │  ▲                     │
//!      │  settle: Lost  │  settle: Held (own write      │  │ renewal, relet      │
//!      ├────────────────┤  committed, answer was lost)  └──┘                     │
//!      │                └──────────────────────────────▶ Lease                   │
//!      └─────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! A caller without a lease asks [`lane_to_try`] for a lane, [`propose`]s an interval on it, writes the
//! [`Claim`] under the claim's own condition, and feeds the [`Lease`] to a [`Generator`]. To abandon a
//! lease it forgets it: nothing has to be written, the interval simply passes.
//!
//! # Invariants, as absences
//!
//! - No two leases of one lane share a millisecond, even with wrong clocks: a claim is only written
//!   if it starts at or after the end of the lane's last interval.
//! - No two lanes share a (slot, sequence) pair: whole slots and split slots are different slots.
//! - No id carries a timestamp outside its lease, so a node thawed an hour later issues nothing.
//! - No row's end ever moves back and no row is ever deleted or expired: the end is the memory of
//!   which timestamps are spent, and a slow clock would spend them again.
//! - No lease is assumed. A write whose answer was lost counts only if the row names its request.
//! - No `Clone` on [`Claim`], [`Lease`] or [`Generator`]: a copy would issue the same ids. A copied
//!   process would too, so a lease is taken lazily, after the environment has started, and its
//!   [`RequestId`] is drawn from the operating system at that moment.
//! - No generator goes back: across clock steps and changes of lanes each id exceeds the one before.
//! - No generator runs ahead of the clock it is shown: a spent millisecond is waited out.

mod base62;
mod generator;
mod id;
mod lane;
mod lease;
#[cfg(test)]
mod model;

pub use generator::{Fill, Generator, MAX_CLOCK_WAIT_MS, Next, Pause};
pub use id::{EPOCH_MS, ERA_END_MS, Id, InvalidId, Parts};
pub use lane::{LANES, Lane, SLOTS, SequenceRange, Slot, WHOLE_SLOTS, lane_to_try};
pub use lease::{Claim, Guard, LEASE_MS, LaneRow, Lease, Proposal, RequestId, Settlement, propose};
