//! A delivery: one notification on its way to one address, and everything that was tried.

use serde::{Deserialize, Serialize};

use super::id::{NAME_RULE, is_name};
use super::{
    Channel, Class, DeliveryId, Endpoint, Notification, Priority, Reason, Rejected, Rendering,
};
use crate::Timestamp;
use crate::accounts::UserId;

/// Where a delivery is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It waits for its time.
    Pending,
    /// An attempt was claimed, and its outcome is not recorded.
    Sending,
    /// A provider has it; a bounce may still override that.
    Delivered,
    /// A rule stopped it.
    Suppressed,
    /// It was taken back.
    Cancelled,
    /// It is a dead letter, or came back.
    Failed,
    /// It may have gone out.
    Unknown,
}

impl Status {
    /// Each of them, in the order of a life.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Sending,
        Self::Delivered,
        Self::Suppressed,
        Self::Cancelled,
        Self::Failed,
        Self::Unknown,
    ];

    /// Its name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Sending => "sending",
            Self::Delivered => "delivered",
            Self::Suppressed => "suppressed",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }

    /// The status of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Whether nothing more happens by itself.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Pending | Self::Sending)
    }
}

/// Names a provider, as the stack's configuration does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProviderName(String);

impl ProviderName {
    /// Accepts 1 to 64 of `a-z 0-9 . _ -`, starting with a letter or digit.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        if !is_name(text) {
            return Err(Rejected::field("provider", NAME_RULE));
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttemptOutcome {
    Open,
    Accepted,
    Refused,
    /// The provider may have it.
    Unknown,
    /// The claim expired without an outcome.
    Lost,
    /// The claimant gave it back before it called the provider.
    Released,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Attempt {
    /// Which: they are never counted anew.
    pub number: u32,
    pub provider: ProviderName,
    pub at: Timestamp,
    /// When its outcome was written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    pub outcome: AttemptOutcome,
    /// What kind of no it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    #[serde(alias = "said", default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Delivery {
    pub id: DeliveryId,
    pub user: UserId,
    pub priority: Priority,
    /// Where it is in its life.
    pub status: Status,
    /// From when on it may be sent.
    pub ready_at: Timestamp,
    /// What it waits for, or why it ended as it did.
    #[serde(rename = "why", default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The attempt that was claimed last, 0 at first: the fencing token. It only grows.
    pub attempt: u32,
    /// Real attempts since it was accepted, or since it was replayed.
    pub tries: u32,
    /// Attempts that may have reached the person without our knowing.
    pub uncertain: u32,
    /// Who has the attempt, while it is `sending`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_at: Option<Timestamp>,
    /// Why there must be no other attempt, if it was taken back while one was going on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<Reason>,
    /// What kind of no the last refusal was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// What it was made from, the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendering: Option<Rendering>,
    /// A hash of the address that it last went to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounced_at: Option<Timestamp>,
    /// When the person called it spam.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complained_at: Option<Timestamp>,
    /// The replay that it was last sent again by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// The latest attempts, oldest first.
    #[serde(rename = "trail")]
    pub attempts: Vec<Attempt>,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    #[serde(rename = "v")]
    pub version: u64,
}

impl Delivery {
    /// Attempts that are kept; older ones are forgotten.
    pub const MAX_HISTORY_LENGTH: usize = 20;

    /// The pending delivery of a notification that was just accepted.
    pub fn new(notification: &Notification, endpoint: Endpoint) -> Self {
        let created_at = notification.created_at;
        let ready_at = notification.send_at.map_or(created_at, |at| at.max(created_at));
        Self {
            id: DeliveryId { notification_id: notification.id.clone(), endpoint },
            user: notification.user.clone(),
            priority: notification.priority,
            status: Status::Pending,
            ready_at,
            reason: (ready_at > created_at).then_some(Reason::Scheduled),
            attempt: 0,
            tries: 0,
            uncertain: 0,
            claimed_by: None,
            claimed_at: None,
            withdrawn: None,
            class: None,
            reference: None,
            rendering: None,
            sent_to: None,
            bounced_at: None,
            complained_at: None,
            replay: None,
            attempts: Vec::new(),
            created_at,
            ended_at: None,
            version: 1,
        }
    }

    pub const fn channel(&self) -> Channel {
        self.id.endpoint.channel()
    }

    /// How often the user got it again, as far as that is known: each went through an uncertain attempt.
    pub fn duplicates(&self) -> usize {
        let accepted =
            self.attempts.iter().filter(|entry| entry.outcome == AttemptOutcome::Accepted).count();
        accepted.saturating_sub(1)
    }

    /// When the claim expires.
    pub fn claim_expires_at(&self) -> Option<Timestamp> {
        let claimed_at = (self.status == Status::Sending).then_some(self.claimed_at)?;
        claimed_at.map(|at| super::after(at, super::CLAIM_SECONDS))
    }
}
