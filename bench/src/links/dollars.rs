//! What AWS would charge for what was counted, at list prices.
//!
//! Absent: storage, logs, data transfer, the free tier and discounts. The log does not tell read units
//! from write units, so an operation that writes at all is charged as if it only wrote: five times as much.

use super::clicks::BatchShape;
use super::operations::{CODES_A_LEASE, Counted};
use crate::table::{Table, Verdict};

// Dollars a million, on demand in us-east-1, from the price lists at aws.amazon.com/dynamodb/pricing,
// /sqs/pricing, /lambda/pricing, /api-gateway/pricing and /s3/pricing.
pub(crate) const WRITE_UNITS: f64 = 0.625;
pub(crate) const READ_UNITS: f64 = 0.125;
const QUEUE_REQUESTS: f64 = 0.40;
/// Messages: sent, received, deleted.
pub(crate) const MESSAGES: f64 = 3.0 * QUEUE_REQUESTS;
pub(crate) const INVOCATIONS: f64 = 0.20;
pub(crate) const API_REQUESTS: f64 = 1.00;
const API_REQUESTS_BEYOND: f64 = 0.90;
const OBJECTS: f64 = 5.00;
/// A GB-second of arm64, in dollars.
const GB_SECOND: f64 = 0.000_013_333_4;

/// Millions of requests a month at the first price of the HTTP API.
const API_FIRST_TIER: f64 = 300.0;

// Assumptions, each of them printed.
const MEMORY_GB: f64 = 0.25;
const REDIRECT_MS: f64 = 2.0;
const SHORTEN_MS: f64 = 10.0;
const COUNT_MS: f64 = 20.0;
/// Messages that one invocation counts: a busy queue gathers up to 100 in two seconds.
const GATHERED: f64 = 10.0;
/// Lambda's pollers receive and delete ten messages with a request each.
const POLLED: f64 = 10.0;

/// The volume of the design that this replaces, in millions a month, and what it costs.
const LINKS: f64 = 100.0;
const REDIRECTS: f64 = 10_000.0;
const REFERENCE: f64 = 10_300.0;

/// How redirects come.
struct Traffic {
    /// The share that is answered from memory.
    hits: f64,
    batch: BatchShape,
    /// Messages counted in one invocation.
    gathered: f64,
}

/// Dollars for a million of something, by what they are paid for.
#[derive(Debug, Clone, Copy, Default)]
struct Bill {
    api: f64,
    compute: f64,
    store: f64,
    queue: f64,
    archive: f64,
}

impl Bill {
    fn total(self) -> f64 {
        self.api + self.compute + self.store + self.queue + self.archive
    }

    fn parts(self) -> String {
        let Self { api, compute, store, queue, archive } = self;
        format!("{api:.2} + {compute:.2} + {store:.2} + {queue:.2} + {archive:.2}")
    }
}

pub(crate) fn tables(counted: &Counted) -> Vec<Table> {
    vec![assumptions(), each_million(counted), a_month(counted)]
}

fn assumptions() -> Table {
    let mut table = Table::new("Assumed for the dollars", "");
    for (what, value) in [
        ("memory, GB, arm64", MEMORY_GB),
        ("billed, ms, a redirect", REDIRECT_MS),
        ("billed, ms, a new link", SHORTEN_MS),
        ("billed, ms, a message counted", COUNT_MS),
        ("messages counted in one invocation when busy", GATHERED),
        ("messages received and deleted with one request", POLLED),
    ] {
        table.row(what, value.to_string(), "", Verdict::Note);
    }
    table
}

fn each_million(counted: &Counted) -> Table {
    let parts = "HTTP API + Lambda + DynamoDB + SQS + S3";
    let mut table = Table::new("Dollars per million", parts);
    for (what, cost) in
        [("links without a key", counted.anonymous), ("links with a key", counted.keyed)]
    {
        let bill = making(cost.units);
        table.row(what, format!("{:.2}", bill.total()), &bill.parts(), Verdict::Note);
    }
    for (batch, _) in &counted.batches {
        for hits in [0.0, 0.9] {
            let gathered = if batch.clicks == 1 { 1.0 } else { GATHERED };
            let traffic = Traffic { hits, batch: *batch, gathered };
            let bill = following(&traffic, counted);
            let hits = 100.0 * hits;
            let what = format!("redirects, {hits:.0} % in memory, {}", named(*batch));
            table.row(&what, format!("{:.2}", bill.total()), &bill.parts(), Verdict::Note);
        }
    }
    table
}

fn named(batch: BatchShape) -> String {
    let BatchShape { clicks, links, popular } = batch;
    let popular = if popular { ", popular" } else { "" };
    format!("{clicks} clicks a message on {links}{popular}")
}

fn a_month(counted: &Counted) -> Table {
    let mut table = Table::new("A month of 100M links and 10B redirects, dollars", "the reference");
    let reference = format!("{REFERENCE:.0}");
    let links = LINKS * making(counted.keyed.units).total();
    table.row("100M links with a key", format!("{links:.0}"), "", Verdict::Note);
    for (batch, _) in counted.batches.iter().filter(|(batch, _)| batch.clicks > 1) {
        let traffic = Traffic { hits: 0.9, batch: *batch, gathered: GATHERED };
        let mut bill = following(&traffic, counted);
        let beyond = (REDIRECTS - API_FIRST_TIER) / REDIRECTS;
        bill.api = API_REQUESTS * (1.0 - beyond) + API_REQUESTS_BEYOND * beyond;
        let total = links + REDIRECTS * bill.total();
        let what = format!("all, 90 % in memory, {}", named(*batch));
        table.row(&what, format!("{total:.0}"), &reference, Verdict::Note);
        let without = total - REDIRECTS * bill.api;
        table.row("  of it without the HTTP API", format!("{without:.0}"), "", Verdict::Note);
    }
    table
}

/// A million new links, each of which consumes so many units and its share of a lease.
fn making(units: f64) -> Bill {
    Bill {
        api: API_REQUESTS,
        compute: INVOCATIONS + billed(SHORTEN_MS),
        store: (units + 1.0 / CODES_A_LEASE) * WRITE_UNITS,
        ..Bill::default()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred at most")]
fn following(traffic: &Traffic, counted: &Counted) -> Bill {
    let batch = counted.batches.iter().find(|(batch, _)| *batch == traffic.batch);
    let units = batch.map_or(0.0, |(_, cost)| cost.units);
    let messages = 1.0 / traffic.batch.clicks as f64;
    let invocations = messages / traffic.gathered;
    Bill {
        api: API_REQUESTS,
        compute: INVOCATIONS * (1.0 + invocations)
            + billed(REDIRECT_MS)
            + messages * billed(COUNT_MS),
        store: (1.0 - traffic.hits) * counted.miss.units * READ_UNITS
            + messages * units * WRITE_UNITS,
        queue: messages * QUEUE_REQUESTS * (1.0 + 2.0 / traffic.gathered.min(POLLED)),
        archive: invocations * OBJECTS,
    }
}

/// Dollars for a million times `milliseconds`.
pub(crate) fn billed(milliseconds: f64) -> f64 {
    1e6 * milliseconds / 1e3 * MEMORY_GB * GB_SECOND
}

#[cfg(test)]
mod tests {
    use super::super::log::Cost;
    use super::*;

    const ONE: BatchShape = BatchShape { clicks: 1, links: 1, popular: false };
    const TEN: BatchShape = BatchShape { clicks: 10, links: 1, popular: false };

    fn counted() -> Counted {
        let cost = |units: f64| Cost { calls: 1.0, units, messages: 0.0 };
        let batches = vec![(ONE, cost(8.0)), (TEN, cost(8.0))];
        Counted { anonymous: cost(3.0), keyed: cost(6.0), miss: cost(0.5), batches }
    }

    fn bill(hits: f64, batch: BatchShape) -> Bill {
        following(&Traffic { hits, batch, gathered: 1.0 }, &counted())
    }

    #[test]
    fn a_read_is_paid_for_only_where_it_was_made() {
        let apart = bill(0.0, ONE).store - bill(1.0, ONE).store;
        assert!((apart - 0.5 * READ_UNITS).abs() < 1e-9, "{apart}");
    }

    #[test]
    fn a_message_of_ten_costs_each_of_its_clicks_a_tenth() {
        let (one, ten) = (bill(1.0, ONE), bill(1.0, TEN));
        for (one, ten) in
            [(one.store, ten.store), (one.queue, ten.queue), (one.archive, ten.archive)]
        {
            assert!((one - 10.0 * ten).abs() < 1e-9, "{one} {ten}");
        }
        assert!((one.queue - 3.0 * QUEUE_REQUESTS).abs() < 1e-9, "sent, received, deleted");
    }

    #[test]
    fn two_milliseconds_of_a_quarter_gigabyte_cost_less_than_a_cent_a_million() {
        assert!((billed(2.0) - 0.006_666_7).abs() < 1e-6);
    }
}
