//! The limits of a user, by hour, and by channel and day, through the shared limiter.
//!
//! A delivery is counted once, right before its first attempt: what waits for a provider, or is tried
//! again, is not counted again. The counters are exact, because they are small. Where the counters can't
//! be reached, an instance lets pass what its own counters allow.

use std::sync::{Arc, LazyLock};

use crate::store::DeliverySnapshot;
use domain::Timestamp;
use domain::limits::ledger::QuotaCheck;
use domain::limits::rule::{Dimension, OnFailure, Rule, RuleMode};
use domain::limits::{Algorithm, Quota};
use domain::notifications::{Channel, LimitVerdict, UserLimit};

use crate::deliver::State;
use crate::deliver::send::passes_limits;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

const HOURLY: i64 = 50;

static HOUR: LazyLock<Arc<Rule>> = LazyLock::new(|| rule("hour", HOURLY, HOUR_MS));
static EMAIL: LazyLock<Arc<Rule>> = LazyLock::new(|| rule("email", 20, DAY_MS));
static SMS: LazyLock<Arc<Rule>> = LazyLock::new(|| rule("sms", 10, DAY_MS));
static PUSH: LazyLock<Arc<Rule>> = LazyLock::new(|| rule("push", 100, DAY_MS));

/// Charges one more notification to the user's limits.
pub(crate) async fn check(state: &State, snapshot: &DeliverySnapshot) -> LimitVerdict {
    let delivery = &snapshot.delivery;
    if passes_limits(snapshot.notification.priority) || delivery.tries > 0 {
        return LimitVerdict::Within;
    }
    let channel = delivery.channel();
    let daily = match channel {
        Channel::Email => &*EMAIL,
        Channel::Sms => &*SMS,
        Channel::Push => &*PUSH,
    };
    let cap = i64::from(snapshot.recipient.preferences.daily_cap(channel));
    let entity = delivery.user.as_str();
    let checks = [
        QuotaCheck { rule: &HOUR, quota: HOUR.quota, entity },
        QuotaCheck { rule: daily, quota: Quota { limit: cap, ..daily.quota }, entity },
    ];
    match state.limiter.charge(&checks).await {
        Ok(()) => LimitVerdict::Within,
        Err(denial) => {
            let limit = if denial.check == 0 { UserLimit::Hourly } else { UserLimit::Daily };
            // A cap of 0 never ends; the user may raise it.
            let until = denial.retry_at_ms.unwrap_or(state.now().as_millisecond() + DAY_MS);
            let until = Timestamp::from_millisecond(until).unwrap_or(Timestamp::MAX);
            LimitVerdict::Exceeded { limit, until }
        }
    }
}

/// A rule that no admin's can be confused with: theirs have no colon.
fn rule(name: &str, limit: i64, window_ms: i64) -> Arc<Rule> {
    Arc::new(Rule {
        id: format!("notifications:{name}"),
        resources: Vec::new(),
        methods: Vec::new(),
        dimension: Dimension::User,
        anonymous_only: false,
        quota: Quota { algorithm: Algorithm::SlidingLog, limit, window_ms, burst: None },
        mode: RuleMode::Enforce,
        on_failure: OnFailure::Open,
        description: String::new(),
        version: 1,
    })
}
