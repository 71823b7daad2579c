//! What is measured of deliveries: plain for alarms, and by what matters for people who look.

use boundary::telemetry::{Unit, measure, measure_by};
use domain::Timestamp;
use domain::notifications::{
    Class, Delivery, Gate, Priority, ProviderName, SendOutcome, Status, UserLimit, Why,
};

/// A change that was written.
pub(crate) fn became(delivery: &Delivery) {
    let channel = ("Channel", delivery.channel().name().to_owned());
    match delivery.status {
        Status::Delivered => both("NotificationsSent", channel),
        Status::Pending => {
            let reason = delivery.why.as_ref().map_or("none", reason);
            both("NotificationsDeferred", ("Reason", reason.to_owned()));
        }
        Status::Failed => {
            let class = delivery.class.map_or("none", Class::name);
            both("NotificationsFailed", ("Class", class.to_owned()));
        }
        Status::Unknown => both("NotificationsUnknown", channel),
        Status::Suppressed => {
            let reason = delivery.why.as_ref().map_or("none", reason);
            both("NotificationsSuppressed", ("Reason", reason.to_owned()));
        }
        Status::Sending | Status::Cancelled => {}
    }
}

/// How long a delivery that could have gone out at `ready_at` had to wait.
pub(crate) fn waited(delivery: &Delivery, ready_at: Timestamp, now: Timestamp) {
    let ms = milliseconds(ready_at, now);
    let priority = ("Priority", delivery.priority.name().to_owned());
    measure_by("QueueWait", Unit::Milliseconds, ms, vec![priority]);
    if delivery.priority == Priority::Critical {
        measure("CriticalWait", Unit::Milliseconds, ms);
    }
}

/// How long a provider took, and whether it worked.
pub(crate) fn asked(provider: &str, handed: &SendOutcome, began: Timestamp, now: Timestamp) {
    let dimension = || vec![("Provider", provider.to_owned())];
    measure_by("ProviderLatency", Unit::Milliseconds, milliseconds(began, now), dimension());
    let failed = f64::from(u8::from(!matches!(handed, SendOutcome::Accepted { .. })));
    measure_by("ProviderErrors", Unit::Count, failed, dimension());
}

/// Whether a provider is left alone.
pub(crate) fn gate(provider: &ProviderName, gate: Gate) {
    let open = f64::from(u8::from(matches!(gate, Gate::Open { .. })));
    let dimension = vec![("Provider", provider.as_str().to_owned())];
    measure_by("BreakerOpen", Unit::Count, open, dimension);
    measure("BreakerOpen", Unit::Count, open);
}

fn both(name: &'static str, dimension: (&'static str, String)) {
    measure(name, Unit::Count, 1.0);
    measure_by(name, Unit::Count, 1.0, vec![dimension]);
}

const fn reason(why: &Why) -> &'static str {
    match why {
        Why::Scheduled => "scheduled",
        Why::Quiet => "quiet",
        Why::Limited { limit: UserLimit::Hourly } => "hourly-limit",
        Why::Limited { limit: UserLimit::Daily } => "daily-limit",
        Why::ProviderDown { .. } => "provider-down",
        Why::ProviderBusy { .. } => "provider-busy",
        Why::Backoff { .. } => "backoff",
        Why::Repeated { .. } => "repeated",
        Why::Replayed => "replayed",
        Why::OptedOut { .. } => "opted-out",
        Why::Expired { .. } => "expired",
        Why::AddressGone => "address-gone",
        Why::AddressSuppressed { .. } => "address-suppressed",
        Why::Cancelled => "cancelled",
        Why::GivenUp { .. } => "given-up",
        Why::Uncertain { .. } => "uncertain",
        Why::Bounced { .. } => "bounced",
        Why::NoProvider => "no-provider",
        Why::Unrenderable { .. } => "unrenderable",
    }
}

fn milliseconds(since: Timestamp, now: Timestamp) -> f64 {
    let ms = now.as_millisecond().saturating_sub(since.as_millisecond()).max(0);
    f64::from(u32::try_from(ms).unwrap_or(u32::MAX))
}
