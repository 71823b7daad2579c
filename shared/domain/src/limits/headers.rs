//! What an answer says about the limits it was held to.
//!
//! `RateLimit-Policy` and `RateLimit` follow draft-ietf-httpapi-ratelimit-headers-10: structured-field
//! lists of strings with integer parameters. Guarantee: both always parse, with any numbers.
//! Absent: a partition key, because it would tell who else is counted together.

use std::cmp::Reverse;

/// How a request stands with one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyStatus<'a> {
    pub policy: &'a str,
    /// Units in a window.
    pub limit: i64,
    pub window_ms: i64,
    pub remaining: i64,
    /// How long until everything is available again.
    pub reset_after_ms: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimitHeaders {
    /// `RateLimit-Policy`: `"links-hour";q=10000;w=3600`.
    pub policy: String,
    /// `RateLimit`: `"links-hour";r=9999;t=3540`.
    pub current: String,
    /// `X-RateLimit-Limit`, of the status with the smallest share left.
    pub limit: i64,
    /// `X-RateLimit-Remaining`, of the same.
    pub remaining: i64,
    /// `X-RateLimit-Reset`, of the same: seconds since 1970.
    pub reset: i64,
}

/// The largest integer of a structured field.
const MAX_INTEGER: i64 = 999_999_999_999_999;

/// What to say about these statuses; nothing if there are none.
pub fn rate_limit_headers(statuses: &[PolicyStatus<'_>], now_ms: i64) -> Option<RateLimitHeaders> {
    let tightest = tightest(statuses)?;
    let room = statuses.iter().map(|status| status.policy.len() + 32).sum();
    let (mut policy, mut current) = (String::with_capacity(room), String::with_capacity(room));
    for status in statuses {
        push_item(&mut policy, status.policy);
        push_parameter(&mut policy, ";q=", status.limit);
        push_parameter(&mut policy, ";w=", seconds(status.window_ms));
        push_item(&mut current, status.policy);
        push_parameter(&mut current, ";r=", status.remaining);
        push_parameter(&mut current, ";t=", seconds(status.reset_after_ms));
    }
    Some(RateLimitHeaders {
        policy,
        current,
        limit: tightest.limit.max(0),
        remaining: tightest.remaining.max(0),
        reset: seconds(now_ms.saturating_add(tightest.reset_after_ms.max(0))),
    })
}

/// The status with the smallest share left; of equals the one that resets last.
pub fn tightest<'s, 'a>(statuses: &'s [PolicyStatus<'a>]) -> Option<&'s PolicyStatus<'a>> {
    statuses.iter().min_by(|left, right| {
        let (ours, theirs) = (share(left), share(right));
        // Fractions are compared crosswise, so nothing is rounded.
        let order = (ours.0 * theirs.1).cmp(&(theirs.0 * ours.1));
        order.then(Reverse(left.reset_after_ms).cmp(&Reverse(right.reset_after_ms)))
    })
}

fn share(status: &PolicyStatus<'_>) -> (i128, i128) {
    if status.limit <= 0 {
        return (0, 1);
    }
    (status.remaining.max(0).into(), status.limit.into())
}

/// Whole seconds, rounded up: who comes back after them is not too early.
fn seconds(ms: i64) -> i64 {
    let ms = ms.max(0);
    ms / 1_000 + i64::from(ms % 1_000 > 0)
}

fn push_item(out: &mut String, text: &str) {
    out.push_str(if out.is_empty() { "\"" } else { ", \"" });
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            // A structured string has nothing else, and one odd name must not cost the whole field.
            _ => out.push('?'),
        }
    }
    out.push('"');
}

fn push_parameter(out: &mut String, name: &str, value: i64) {
    out.push_str(name);
    let mut rest = value.clamp(0, MAX_INTEGER);
    let mut digits = [b'0'; 15];
    let mut first = digits.len();
    for (index, digit) in digits.iter_mut().enumerate().rev() {
        *digit += u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
        first = index;
        if rest == 0 {
            break;
        }
    }
    out.extend(digits.iter().skip(first).copied().map(char::from));
}

#[cfg(test)]
mod tests;
