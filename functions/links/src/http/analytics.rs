//! A link's clicks and visitors by day, country, referrer, device, browser, variant and hour.

use std::sync::Arc;

use crate::store::LinkStatistics;
use boundary::http::{Call, Caller, Json, Operation, Path, Problem, Query, Result, State};
use domain::Timestamp;
use domain::accounts::Role;
use domain::links::counts::{ClickCounts, Dimension, day_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::CodePath;
use crate::http::link_ref::{LinkRef, parse_domain};
use crate::http::state::App;

const DAY_SECONDS: i64 = 24 * 3600;

/// Days are kept for 25 months.
const MAX_DAYS: i64 = 760;

/// Values of a breakdown that are listed; the rest is added up.
const MAX_LISTED: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Period {
    /// The last so many days, today included: `24h`, `7d`, `30d`, `12m`…; `7d` if left out.
    #[schemars(regex(pattern = r"^\d{1,3}[hdwmy]$"))]
    period: Option<String>,
    /// The link's domain, if it is not the service's own.
    domain: Option<String>,
}

/// A link's clicks in a period.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnalyticsView {
    short_code: String,
    /// The first day, UTC.
    from: String,
    /// The last day, UTC.
    to: String,
    /// Clicks by people.
    clicks: u64,
    /// People, estimated within 2 %; one who comes back on another day counts again.
    unique_visitors: u64,
    /// Visits by robots.
    bots: u64,
    /// Visits by preview crawlers.
    previews: u64,
    by_date: Vec<DateView>,
    by_country: Vec<Share>,
    by_referrer: Vec<Share>,
    by_device: Vec<Share>,
    by_browser: Vec<Share>,
    by_variant: Vec<Share>,
    by_hour: Vec<Share>,
}

/// One day.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DateView {
    date: String,
    clicks: u64,
    unique_visitors: u64,
    bots: u64,
    previews: u64,
}

/// One value of a breakdown.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Share {
    name: String,
    clicks: u64,
}

pub(super) const READ: Operation =
    Operation::get("/api/v1/url/{code}/analytics", "readAnalytics", "Analyse a link")
        .description(
            "People, robots and preview crawlers are told apart; the breakdowns are of people. Counting lags a \
             few seconds.",
        )
        .role(Role::Member)
        .refuses(&[404]);

pub(super) async fn read(
    State(app): State<Arc<App>>,
    call: Call,
    caller: Caller,
    Query(query): Query<Period>,
    code: Result<Path<CodePath>>,
) -> Result<Json<AnalyticsView>> {
    let days = days_in(query.period.as_deref().unwrap_or("7d"))?;
    let Path(code) = code?;
    let link_ref = LinkRef { domain: parse_domain(query.domain.as_deref())?, code };
    let link = app.owned_link(&caller, &link_ref).await?;
    let first = day_of(days_before(call.now, days - 1));
    let last = day_of(call.now);
    let found = app.links.statistics(&link.domain, &link.code, &first, &last).await?;
    Ok(Json(AnalyticsView {
        short_code: link.code.as_str().to_owned(),
        by_date: by_date(&found, call.now, days),
        unique_visitors: found.visitors(),
        from: first,
        to: last,
        ..breakdown(&found.counts())
    }))
}

fn breakdown(counts: &ClickCounts) -> AnalyticsView {
    AnalyticsView {
        short_code: String::new(),
        from: String::new(),
        to: String::new(),
        clicks: counts.clicks,
        unique_visitors: 0,
        bots: counts.bots,
        previews: counts.previews,
        by_date: Vec::new(),
        by_country: shares(&counts.countries),
        by_referrer: shares(&counts.referrers),
        by_device: shares(&counts.devices),
        by_browser: shares(&counts.browsers),
        by_variant: shares(&counts.variants),
        by_hour: counts.hours.iter().map(share).collect(),
    }
}

/// Every day of the period, those without visits too.
fn by_date(found: &LinkStatistics, now: Timestamp, days: i64) -> Vec<DateView> {
    let dates = (0..days).rev().map(|back| day_of(days_before(now, back)));
    dates
        .map(|date| {
            let day = found.days.get(&date).cloned().unwrap_or_default();
            DateView {
                clicks: day.counts.clicks,
                unique_visitors: day.visitors.estimate(),
                bots: day.counts.bots,
                previews: day.counts.previews,
                date,
            }
        })
        .collect()
}

/// Largest first; what is beyond the list is one entry, so that the sum stays right.
fn shares(dimension: &Dimension) -> Vec<Share> {
    let mut shares: Vec<Share> = dimension.iter().map(share).collect();
    shares.sort_by(|a, b| b.clicks.cmp(&a.clicks).then_with(|| a.name.cmp(&b.name)));
    let rest: u64 = shares.iter().skip(MAX_LISTED).map(|share| share.clicks).sum();
    if rest > 0 {
        shares.truncate(MAX_LISTED);
        shares.push(Share { name: "(others)".to_owned(), clicks: rest });
    }
    shares
}

fn share((name, &clicks): (&String, &u64)) -> Share {
    Share { name: name.clone(), clicks }
}

fn days_before(now: Timestamp, days: i64) -> Timestamp {
    Timestamp::from_second(now.as_second() - days * DAY_SECONDS).unwrap_or(now)
}

/// Whole days, today included.
fn days_in(period: &str) -> Result<i64> {
    let wrong = || Problem::field("period", "a number and h, d, w, m or y, up to 25 months: 7d");
    let unit = period.chars().last().ok_or_else(wrong)?;
    let number: i64 = period[..period.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    let days = match unit {
        'h' => (number + 23) / 24,
        'd' => number,
        'w' => number.saturating_mul(7),
        'm' => number.saturating_mul(30),
        'y' => number.saturating_mul(365),
        _ => return Err(wrong()),
    };
    if number >= 1 && (1..=MAX_DAYS).contains(&days) { Ok(days) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_whole_days() {
        for (text, days) in [("7d", 7), ("24h", 1), ("25h", 2), ("2w", 14), ("1m", 30), ("1y", 365)]
        {
            assert_eq!(days_in(text).ok(), Some(days), "{text}");
        }
        for wrong in
            ["", "d", "0d", "-1d", "7", "7x", "999y", "1.5d", "7ä", "99999999999999999999d"]
        {
            assert!(days_in(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_long_tail_is_one_entry_and_nothing_is_lost() {
        let many: Dimension = (0..150).map(|n| (format!("host{n:03}"), n + 1)).collect();
        let shares = shares(&many);
        assert_eq!(shares.len(), MAX_LISTED + 1);
        assert_eq!(shares.iter().map(|share| share.clicks).sum::<u64>(), (1..=150).sum::<u64>());
        assert_eq!(shares[0].clicks, 150);
    }
}
