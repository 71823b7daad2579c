//! What AWS would charge for checks, by what was counted, at list prices.
//!
//! Absent: storage, logs, data transfer, the free tier and discounts.

use super::operations::Counted;
use crate::links::dollars::{API_REQUESTS, INVOCATIONS, READ_UNITS, WRITE_UNITS, billed};
use crate::table::{Table, Verdict};

/// What a check is billed for, assumed.
const CHECK_MS: f64 = 2.0;

/// Checks that a lease lasts for, assumed: a key that is asked for often.
const A_LEASE: f64 = 100.0;

/// Checks a second on a node, assumed.
const A_SECOND: f64 = 10.0;

pub(crate) fn table(counted: &Counted) -> Table {
    let mut table = Table::new("Dollars per million checks", "HTTP API + Lambda + DynamoDB");
    let kept_up = kept_up(counted);
    let leased = counted.leased.units * WRITE_UNITS / A_LEASE;
    for (what, store) in [
        ("units held", counted.held.units * READ_UNITS),
        ("units held, a lease for every 100", leased),
        ("a lease for each: every caller new", counted.leased.units * WRITE_UNITS),
        ("1 small quota", counted.one.units * WRITE_UNITS),
        ("2 small quotas", counted.two.units * WRITE_UNITS),
    ] {
        let (api, compute, store) = (API_REQUESTS, INVOCATIONS + billed(CHECK_MS), store + kept_up);
        let parts = format!("{api:.2} + {compute:.2} + {store:.3}");
        table.row(what, format!("{:.2}", api + compute + store), &parts, Verdict::Note);
    }
    let what = "in process, as our own functions ask: a lease for every 100";
    table.row(what, format!("{:.3}", leased + kept_up), "DynamoDB alone", Verdict::Note);
    let what = "  of it keeping rules fresh and reporting, at 10 checks a second and node";
    table.row(what, format!("{kept_up:.3}"), "", Verdict::Note);
    table
}

/// What a node costs by being one, as a part of each check.
#[expect(clippy::cast_precision_loss, reason = "a few dozen")]
fn kept_up(counted: &Counted) -> f64 {
    let reads = counted.refresh.units * READ_UNITS / 5.0;
    let writes = counted.report as f64 * WRITE_UNITS / 60.0;
    (reads + writes) / A_SECOND
}
