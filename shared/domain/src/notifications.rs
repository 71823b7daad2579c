//! Notifications: a user gets each once, on the channels and at the time that they want.
//!
//! A notification is for one person; it has a delivery for each of the addresses that it goes to.
//!
//! ```text
//!               ┌────────── refused, or lost and harmless to repeat ─────────┐
//!               ▼                                                            │
//!  accept ─▶ PENDING ───────────────────── claim ──────────────────────▶ SENDING
//!             │ ▲ └ deferred ┐                                             │ │ └─▶ UNKNOWN ─ callback ─▶ DELIVERED
//!             │ └────────────┘   FAILED ◀─ permanent, or the fifth no ─────┘ └───▶ DELIVERED
//!             │                   │  ▲                                               │
//!             ├─▶ SUPPRESSED      │  └────────────────── bounce ─────────────────────┘
//!             ├─▶ CANCELLED       └─ replay ─▶ PENDING
//!             └─▶ FAILED (no text, no provider)
//! ```
//!
//! [`decide`] says what to do about a pending delivery; [`transition`] is all that can happen to one.
//! The store does no more than write that down if the row is still what it was. The accounts always
//! balance: accepted = delivered + suppressed + cancelled + failed + unknown, once nothing is on its way.
//! One that bounced counts as failed, because the person did not get it, and can be replayed; one that
//! was complained about counts as delivered, because they did. The invariants, as absences:
//!
//! - No provider is called without a claim: [`Delivery::attempt`] is the fencing token, and grows
//!   with each.
//! - No claim after an opt-out: it is one transaction with a check that the preferences and contacts
//!   which it was decided by are still those. An opt-out that comes later withdraws what was claimed, and
//!   no attempt follows.
//! - No second send, except after one whose outcome is not known, and only where it does no harm.
//!   Each such is counted in [`Delivery::uncertain`].
//! - No delivery that may have gone out ends as if it had not: it ends as unknown, unless its provider
//!   says what became of it.
//! - No sixth attempt, and none used up by waiting: limits, breakers and rates come before the claim, and
//!   what a queue counts is not looked at.
//! - No opt-out that urgency passes; no rate of a provider either.
//! - No address or text in anything that is printed for debugging.

mod breaker;
mod callback;
mod contacts;
mod contents;
mod dead_letter;
mod decide;
mod delivery;
pub mod due;
pub mod engagement;
mod id;
mod locale;
mod message;
#[cfg(test)]
mod model;
mod notification;
mod preferences;
mod provider_message;
pub mod rate;
mod reason;
mod retry;
#[cfg(test)]
mod samples;
mod submission;
mod template;
pub mod token;
pub mod tracking;
mod transition;

pub use breaker::{Breaker, BreakerState, CallCounts, SpanCounts};
pub use callback::{Callback, CallbackKind};
pub use contacts::{AddressState, Contacts, Suppression};
pub use contents::{ChannelContents, EmailContent, PushContent, SmsContent};
pub use dead_letter::{DeadLetter, DeadLetterFilter, Remedy};
pub use decide::{
    Availability, DeliveryDecision, Facts, LimitVerdict, ProviderState, decide, stop_reason,
};
pub use delivery::{Attempt, AttemptOutcome, Delivery, ProviderName, Status};
pub use id::{DeliveryId, DeviceId, Endpoint, NotificationId};
pub use locale::Locale;
pub use message::DeliveryMessage;
pub use notification::{Body, Category, Notification, Priority};
pub use preferences::{
    ChangeSource, Day, DoNotDisturb, PreferenceChange, Preferences, TimeOfDay, TimeZoneName,
    do_not_disturb_until,
};
pub use provider_message::{Address, Channel, Class, Content, ProviderMessage, SendOutcome};
pub use reason::{OptOut, Reason, SuppressionReason, UserLimit};
pub use retry::{MAX_ATTEMPTS, repeat_is_harmless, retry_ms};
pub use submission::{ContentSource, MAX_USERS, NotificationRequest, Submission, TemplateRequest};
pub use template::{
    AbTest, RenderError, Rendered, Rendering, SYSTEM_VARIABLES, Template, TemplateDraft,
    TemplateId, TemplateVariant, TemplateVersion,
};
pub use transition::{CLAIM_SECONDS, Event, IllegalTransition, Transition, transition};

use crate::jobs::{after, after_ms};

/// The caller's mistake, in the domain's words; the boundary knows what HTTP calls it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    #[error("{field}: {rule}")]
    Field {
        /// The field, as the caller wrote it.
        field: String,
        rule: String,
    },
    /// No such notification, or none that the caller may know of.
    #[error("there is no such notification")]
    UnknownNotification,
    /// No such template, or no such version of it.
    #[error("there is no template `{0}`")]
    UnknownTemplate(String),
    /// A template's text is not one.
    #[error("{field}: {problem}")]
    Template { field: String, problem: String },
    /// It changed since it was read.
    #[error("it has changed since it was read")]
    Moved,
    /// The delivery is not in a state in which that can be done.
    #[error("{0}")]
    Refused(IllegalTransition),
}

impl Rejected {
    pub(crate) fn field(field: impl Into<String>, rule: impl Into<String>) -> Self {
        Self::Field { field: field.into(), rule: rule.into() }
    }
}
