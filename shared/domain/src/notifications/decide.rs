//! Decides about a pending delivery, right before it would be sent: one pure function.
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

use super::breaker::BreakerState;
use super::retry::MAX_ATTEMPTS;
use super::{
    AddressState, Class, Delivery, Notification, Preferences, Priority, ProviderName, Reason,
    Status, UserLimit, do_not_disturb_until,
};
use crate::Timestamp;

/// Whether the user's limits allow one more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LimitVerdict {
    Within,
    Exceeded { limit: UserLimit, until: Timestamp },
}

/// Whether a provider takes one more at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    /// It does, as far as is known.
    Free,
    At(Timestamp),
}

/// What is known of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderState {
    pub name: ProviderName,
    pub breaker: BreakerState,
    pub availability: Availability,
}

/// Everything that the decision depends on, freshly read.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    pub notification: &'a Notification,
    pub delivery: &'a Delivery,
    pub preferences: &'a Preferences,
    /// What is known of the address.
    pub address_state: AddressState,
    pub verdict: LimitVerdict,
    /// The channel's providers, the preferred one first.
    pub providers: &'a [ProviderState],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryDecision {
    /// Claim this attempt, then send it.
    Send {
        attempt: u32,
        provider: ProviderName,
        /// Whether the provider is being tried after it failed: then a trial has to be won first.
        trial: bool,
    },
    Defer {
        until: Timestamp,
        reason: Reason,
    },
    Suppress {
        reason: Reason,
    },
    DeadLetter {
        /// What kind of no it was.
        class: Class,
        reason: Reason,
    },
    /// Nothing: another instance has it, or it has ended.
    Ignore,
}

pub fn decide(facts: &Facts<'_>, now: Timestamp) -> DeliveryDecision {
    if facts.delivery.status != Status::Pending {
        return DeliveryDecision::Ignore;
    }
    let Facts { notification, delivery, preferences, address_state, .. } = facts;
    if let Some(reason) = stop_reason(notification, delivery, preferences, address_state, now) {
        return DeliveryDecision::Suppress { reason };
    }
    if facts.delivery.tries >= MAX_ATTEMPTS {
        let class = facts.delivery.class.unwrap_or(Class::Unrecognised);
        let attempt = facts.delivery.attempt;
        return DeliveryDecision::DeadLetter { class, reason: Reason::GivenUp { attempt, class } };
    }
    match deferral(facts, now) {
        Some((until, reason)) => defer(facts, until, reason),
        None => choose_provider(facts, now),
    }
}

/// The rule that ends it, if one does: checks 1 to 3. Acceptance and a change of preferences ask it too.
pub fn stop_reason(
    notification: &Notification,
    delivery: &Delivery,
    preferences: &Preferences,
    address: &AddressState,
    now: Timestamp,
) -> Option<Reason> {
    if let Some(at) = notification.expires_at.filter(|_| notification.is_expired(now)) {
        return Some(Reason::Expired { at });
    }
    if let Some(switch) = preferences.opt_out_for(&notification.category, delivery.channel()) {
        return Some(Reason::OptedOut { switch });
    }
    match address {
        AddressState::Usable => None,
        AddressState::Gone => Some(Reason::AddressGone),
        AddressState::Suppressed(reason) => Some(Reason::AddressSuppressed { reason: *reason }),
    }
}

/// What holds it, and until when: checks 5 to 7.
fn deferral(facts: &Facts<'_>, now: Timestamp) -> Option<(Timestamp, Reason)> {
    let delivery = facts.delivery;
    if delivery.ready_at > now {
        return Some((delivery.ready_at, delivery.reason.clone().unwrap_or(Reason::Scheduled)));
    }
    if facts.notification.priority == Priority::Critical {
        return None;
    }
    if let Some(until) = do_not_disturb_until(facts.preferences, now) {
        return Some((until, Reason::DoNotDisturb));
    }
    match facts.verdict {
        LimitVerdict::Exceeded { limit, until } => Some((until, Reason::Limited { limit })),
        LimitVerdict::Within => None,
    }
}

fn choose_provider(facts: &Facts<'_>, now: Timestamp) -> DeliveryDecision {
    let working = facts
        .providers
        .iter()
        .find(|provider| !matches!(provider.breaker, BreakerState::Open { .. }));
    let Some(provider) = working else { return no_working_provider(facts) };
    match provider.availability {
        Availability::At(at) if at > now => {
            defer(facts, at, Reason::ProviderBusy { provider: provider.name.clone() })
        }
        Availability::Free | Availability::At(_) => DeliveryDecision::Send {
            attempt: facts.delivery.attempt + 1,
            provider: provider.name.clone(),
            trial: provider.breaker == BreakerState::HalfOpen,
        },
    }
}

/// All are failing, or there is none.
fn no_working_provider(facts: &Facts<'_>) -> DeliveryDecision {
    let reopening = facts.providers.iter().filter_map(|provider| match provider.breaker {
        BreakerState::Open { until } => Some((until, &provider.name)),
        BreakerState::Closed | BreakerState::HalfOpen => None,
    });
    match reopening.min_by_key(|(until, _)| *until) {
        Some((until, name)) => defer(facts, until, Reason::ProviderDown { provider: name.clone() }),
        None => DeliveryDecision::DeadLetter { class: Class::Outage, reason: Reason::NoProvider },
    }
}

fn defer(facts: &Facts<'_>, until: Timestamp, reason: Reason) -> DeliveryDecision {
    let until = facts.notification.expires_at.map_or(until, |at| at.min(until));
    DeliveryDecision::Defer { until, reason }
}

#[cfg(test)]
mod tests;
