//! What is to be done about a pending delivery, right before it would be sent: one pure function.
//!
//! The checks, in this order; the first that objects decides:
//!
//! 1. Expired: suppressed. Nothing else matters any more.
//! 2. Opt-outs, of everything, of the channel, of the category on it: suppressed. They win always;
//!    no urgency passes them.
//! 3. The address, gone or suppressed: suppressed. So a bounced address is not tried by urgency either.
//! 4. Attempts used up: a dead letter. (A transition ends such a delivery; this is for rows that none
//!    made.)
//! 5. Its time, as asked for or after a refusal: deferred.
//! 6. Do-not-disturb: deferred to the window's end. Critical passes.
//! 7. The person's limits: deferred. Critical passes.
//! 8. Providers, in their order: the first that is not failing. If all are, deferred until the first may
//!    be tried again; if that one takes no more at the moment, deferred until it does. Nothing passes.
//!
//! What ends a delivery comes before what holds it, so that nothing waits only to be stopped. A deferral
//! never leads beyond the expiry: a change of preferences may still let it go, and at the expiry it ends.

use super::breaker::Gate;
use super::retry::MAX_ATTEMPTS;
use super::{
    Class, Delivery, Notification, Preferences, Priority, ProviderName, Standing, Status,
    UserLimit, Why, quiet_until,
};
use crate::Timestamp;

/// What the limiter says of one more for this person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is within the limits.
    Within,
    /// It is beyond one.
    Beyond {
        limit: UserLimit,
        /// When there is room again.
        until: Timestamp,
    },
}

/// Whether a provider takes one more at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// It does, or nobody has asked yet.
    Free,
    /// Not before then.
    At(Timestamp),
}

/// What is known of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderState {
    pub name: ProviderName,
    /// Whether it is failing.
    pub gate: Gate,
    /// Whether it is busy.
    pub slot: Slot,
}

/// Everything that the decision depends on, read for it and not remembered from before.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// What was asked for.
    pub notification: &'a Notification,
    /// How far it is.
    pub delivery: &'a Delivery,
    /// What the person wants.
    pub preferences: &'a Preferences,
    /// What is known of the address.
    pub standing: Standing,
    /// What the limiter says.
    pub verdict: Verdict,
    /// The channel's providers, the preferred one first.
    pub providers: &'a [ProviderState],
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Claim this attempt, then hand it over.
    Send {
        /// The attempt to claim.
        attempt: u32,
        provider: ProviderName,
        /// Whether the provider is being tried after it failed: then a trial has to be won first.
        trial: bool,
    },
    Defer {
        until: Timestamp,
        why: Why,
    },
    Suppress {
        why: Why,
    },
    DeadLetter {
        /// What kind of no it was.
        class: Class,
        why: Why,
    },
    /// Nothing: somebody else has it, or it has ended.
    Leave,
}

pub fn decide(facts: &Facts<'_>, now: Timestamp) -> Decision {
    if facts.delivery.status != Status::Pending {
        return Decision::Leave;
    }
    if let Some(why) = stopped(facts, now) {
        return Decision::Suppress { why };
    }
    if facts.delivery.tries >= MAX_ATTEMPTS {
        let class = facts.delivery.class.unwrap_or(Class::Unrecognised);
        let attempt = facts.delivery.attempt;
        return Decision::DeadLetter { class, why: Why::GivenUp { attempt, class } };
    }
    match held(facts, now) {
        Some((until, why)) => defer(facts, until, why),
        None => choose(facts, now),
    }
}

/// The rule that ends it, if one does: checks 1 to 3. Acceptance and a change of preferences ask it too.
pub fn stopped(facts: &Facts<'_>, now: Timestamp) -> Option<Why> {
    let Facts { notification, delivery, .. } = facts;
    if let Some(at) = notification.expires_at.filter(|_| notification.is_expired(now)) {
        return Some(Why::Expired { at });
    }
    if let Some(switch) = facts.preferences.against(&notification.category, delivery.channel()) {
        return Some(Why::OptedOut { switch });
    }
    match facts.standing {
        Standing::Good => None,
        Standing::Gone => Some(Why::AddressGone),
        Standing::Suppressed(because) => Some(Why::AddressSuppressed { because }),
    }
}

/// What holds it, and until when: checks 5 to 7.
fn held(facts: &Facts<'_>, now: Timestamp) -> Option<(Timestamp, Why)> {
    let delivery = facts.delivery;
    if delivery.ready_at > now {
        return Some((delivery.ready_at, delivery.why.clone().unwrap_or(Why::Scheduled)));
    }
    if facts.notification.priority == Priority::Critical {
        return None;
    }
    if let Some(until) = quiet_until(facts.preferences, now) {
        return Some((until, Why::Quiet));
    }
    match facts.verdict {
        Verdict::Beyond { limit, until } => Some((until, Why::Limited { limit })),
        Verdict::Within => None,
    }
}

fn choose(facts: &Facts<'_>, now: Timestamp) -> Decision {
    let working =
        facts.providers.iter().find(|provider| !matches!(provider.gate, Gate::Open { .. }));
    let Some(provider) = working else { return nobody(facts) };
    match provider.slot {
        Slot::At(at) if at > now => {
            defer(facts, at, Why::ProviderBusy { provider: provider.name.clone() })
        }
        Slot::Free | Slot::At(_) => Decision::Send {
            attempt: facts.delivery.attempt + 1,
            provider: provider.name.clone(),
            trial: provider.gate == Gate::Trial,
        },
    }
}

/// All are failing, or there is none.
fn nobody(facts: &Facts<'_>) -> Decision {
    let reopening = facts.providers.iter().filter_map(|provider| match provider.gate {
        Gate::Open { until } => Some((until, &provider.name)),
        Gate::Closed | Gate::Trial => None,
    });
    match reopening.min_by_key(|(until, _)| *until) {
        Some((until, name)) => defer(facts, until, Why::ProviderDown { provider: name.clone() }),
        None => Decision::DeadLetter { class: Class::Outage, why: Why::NoProvider },
    }
}

fn defer(facts: &Facts<'_>, until: Timestamp, why: Why) -> Decision {
    let until = facts.notification.expires_at.map_or(until, |at| at.min(until));
    Decision::Defer { until, why }
}

#[cfg(test)]
mod tests;
