//! What happens to deliveries, and what can come of it.

use crate::Timestamp;
use crate::notifications::{
    CallbackKind, Class, Delivery, ProviderName, Reason, Rendering, SendOutcome, Status,
};

/// Something that happens to a delivery. What chance decides comes in with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// An instance is about to call a provider, which it may only once this is written.
    Claimed {
        /// A unique name, so that a claimant who lost the answer recognises its own success.
        by: String,
        /// The attempt: one more than the last.
        attempt: u32,
        provider: ProviderName,
        /// What its text was made from, if it was made.
        rendering: Option<Rendering>,
        /// What the address is known by: see [`Suppression::key`](crate::notifications::Suppression::key).
        to: Option<String>,
    },
    /// The claimant has not called the provider, and will not.
    Released {
        attempt: u32,
        until: Timestamp,
        reason: Reason,
    },
    /// The provider has answered, or not.
    Sent {
        attempt: u32,
        outcome: SendOutcome,
        jitter: u64,
    },
    /// The sweep checks whether the claim has expired.
    ClaimChecked {
        jitter: u64,
    },
    Deferred {
        until: Timestamp,
        reason: Reason,
    },
    Suppressed {
        reason: Reason,
    },
    /// It can't be sent at all.
    DeadLettered {
        /// What kind of no that is.
        class: Class,
        reason: Reason,
    },
    /// The caller took it back, or the person opted out.
    Withdrawn {
        reason: Reason,
    },
    /// The provider said what became of it.
    CalledBack {
        kind: CallbackKind,
        at: Timestamp,
    },
    /// An operator replays a dead letter.
    Replayed {
        /// Names the replay: each moves a dead letter once.
        replay: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transition {
    Changed(Box<Delivery>),
    /// There is nothing to do: it has happened already, or does not matter any more.
    Unchanged,
    Illegal(IllegalTransition),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IllegalTransition {
    /// It names an attempt that is not the one at hand.
    #[error("attempt {sent} is not at hand; the delivery is at attempt {current}")]
    StaleAttempt {
        sent: u32,
        /// The attempt the delivery is at.
        current: u32,
    },
    /// It is in no state for that.
    #[error("the delivery is {}", .0.name())]
    WrongStatus(Status),
    #[error("the delivery may not be sent yet")]
    TooEarly,
    /// It was taken back, which is for good.
    #[error("the delivery was taken back")]
    Withdrawn,
    /// It has had all its attempts.
    #[error("the delivery has had all its attempts")]
    AttemptsExhausted,
}
