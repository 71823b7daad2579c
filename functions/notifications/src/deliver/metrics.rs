//! Metrics of deliveries: without dimensions for alarms, and with one for dashboards.

use boundary::telemetry::{Unit, measure, measure_by};
use domain::Timestamp;
use domain::notifications::{
    BreakerState, Class, Delivery, Priority, ProviderName, Reason, SendOutcome, Status, UserLimit,
};

pub(crate) fn status_changed(delivery: &Delivery) {
    let channel = ("Channel", delivery.channel().name().to_owned());
    match delivery.status {
        Status::Delivered => count_by("NotificationsSent", channel),
        Status::Pending => {
            let reason = delivery.reason.as_ref().map_or("none", reason);
            count_by("NotificationsDeferred", ("Reason", reason.to_owned()));
        }
        Status::Failed => {
            let class = delivery.class.map_or("none", Class::name);
            count_by("NotificationsFailed", ("Class", class.to_owned()));
        }
        Status::Unknown => count_by("NotificationsUnknown", channel),
        Status::Suppressed => {
            let reason = delivery.reason.as_ref().map_or("none", reason);
            count_by("NotificationsSuppressed", ("Reason", reason.to_owned()));
        }
        Status::Sending | Status::Cancelled => {}
    }
}

/// How long a delivery that could have gone out at `ready_at` had to wait.
pub(crate) fn queue_wait(delivery: &Delivery, ready_at: Timestamp, now: Timestamp) {
    let ms = milliseconds(ready_at, now);
    let priority = ("Priority", delivery.priority.name().to_owned());
    measure_by("QueueWait", Unit::Milliseconds, ms, vec![priority]);
    if delivery.priority == Priority::Critical {
        measure("CriticalWait", Unit::Milliseconds, ms);
    }
}

/// How long a provider took, and whether it worked.
pub(crate) fn provider_call(
    provider: &str,
    outcome: &SendOutcome,
    began: Timestamp,
    now: Timestamp,
) {
    let dimension = || vec![("Provider", provider.to_owned())];
    measure_by("ProviderLatency", Unit::Milliseconds, milliseconds(began, now), dimension());
    let failed = f64::from(u8::from(!matches!(outcome, SendOutcome::Accepted { .. })));
    measure_by("ProviderErrors", Unit::Count, failed, dimension());
}

/// Whether a provider is left alone.
pub(crate) fn breaker_state(provider: &ProviderName, state: BreakerState) {
    let open = f64::from(u8::from(matches!(state, BreakerState::Open { .. })));
    let dimension = vec![("Provider", provider.as_str().to_owned())];
    measure_by("BreakerOpen", Unit::Count, open, dimension);
    measure("BreakerOpen", Unit::Count, open);
}

fn count_by(name: &'static str, dimension: (&'static str, String)) {
    measure(name, Unit::Count, 1.0);
    measure_by(name, Unit::Count, 1.0, vec![dimension]);
}

const fn reason(reason: &Reason) -> &'static str {
    match reason {
        Reason::Scheduled => "scheduled",
        Reason::DoNotDisturb => "quiet",
        Reason::Limited { limit: UserLimit::Hourly } => "hourly-limit",
        Reason::Limited { limit: UserLimit::Daily } => "daily-limit",
        Reason::ProviderDown { .. } => "provider-down",
        Reason::ProviderBusy { .. } => "provider-busy",
        Reason::Backoff { .. } => "backoff",
        Reason::Repeated { .. } => "repeated",
        Reason::Replayed => "replayed",
        Reason::OptedOut { .. } => "opted-out",
        Reason::Expired { .. } => "expired",
        Reason::AddressGone => "address-gone",
        Reason::AddressSuppressed { .. } => "address-suppressed",
        Reason::Cancelled => "cancelled",
        Reason::GivenUp { .. } => "given-up",
        Reason::Uncertain { .. } => "uncertain",
        Reason::Bounced { .. } => "bounced",
        Reason::NoProvider => "no-provider",
        Reason::Unrenderable { .. } => "unrenderable",
    }
}

fn milliseconds(since: Timestamp, now: Timestamp) -> f64 {
    let ms = now.as_millisecond().saturating_sub(since.as_millisecond()).max(0);
    f64::from(u32::try_from(ms).unwrap_or(u32::MAX))
}
