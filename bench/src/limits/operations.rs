//! What each operation on limits asks of the store, read from the functions' own log.
//!
//! The callers of a check have quotas of their own, and every five seconds a node looks whether its
//! rules are current: so each row is the median of several checks, beside their mean.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cold::{build_example, target};
use crate::links::{Client, Cost, LocalCloud, Log, cpu_each};
use crate::table::{Table, Verdict};
use crate::{Result, block_on};

/// Checks in a row of the table.
const CHECKS: usize = 20;

/// Rules are looked at again after that; a little more, because clocks are read twice.
const FRESH: Duration = Duration::from_millis(5_100);

/// The most keys that a report names.
const REPORTED: u64 = 40;

/// What was counted, for the bill.
pub(crate) struct Counted {
    pub(crate) held: Cost,
    pub(crate) leased: Cost,
    pub(crate) one: Cost,
    pub(crate) two: Cost,
    pub(crate) refresh: Cost,
    /// Writes a minute and node.
    pub(crate) report: u64,
}

pub(crate) fn measure() -> Result<(Table, Counted)> {
    let folder = target()?.join("bench/data");
    let server = LocalCloud::start(Some(&folder), None)?;
    block_on(async {
        let mut run = Run {
            client: Client::connect(&server.api).await?,
            log: Log::open(&folder.join("functions.log")),
            table: Table::new("Counted for each operation: calls · units (mean)", "bar"),
        };
        run.saving().await?;
        let held = run.holding().await?;
        let leased = run.leasing().await?;
        let (one, two) = run.asking_each_time().await?;
        let refresh = run.refreshing().await?;
        let report = run.reporting()?;
        Ok((run.table, Counted { held, leased, one, two, refresh, report }))
    })
}

struct Run {
    client: Client,
    log: Log,
    table: Table,
}

impl Run {
    /// Saves the rules that the checks are held to.
    async fn saving(&mut self) -> Result {
        let rules = [
            ("bench-held", "user", "/bench/held", 1_000_000),
            ("bench-one", "user", "/bench/one", 100),
            ("bench-two-user", "user", "/bench/two", 100),
            ("bench-two-ip", "ip", "/bench/two", 100),
            ("bench-none", "user", "/bench/none", 1),
        ];
        for (id, dimension, resource, limit) in rules {
            let body = json!({
                "resources": [resource], "dimension": dimension, "limit": limit,
                "windowSeconds": 86_400,
            });
            let path = format!("/admin/ratelimits/{id}");
            self.client.call(("PUT", &path), &[], Some(&body), true).await?;
        }
        let saved = self.lines("saveLimit", rules.len()).await?;
        self.row("save a rule", &saved, "1 read + 1 transaction", |cost| cost.calls <= 2.0);
        tokio::time::sleep(FRESH).await;
        Ok(())
    }

    async fn holding(&mut self) -> Result<Cost> {
        // Leases follow demand, the caller's own too: they begin with one unit.
        self.check(4 * CHECKS, |_| json!({ "userId": "held", "resource": "/bench/held" })).await?;
        let held = |_| json!({ "userId": "held", "resource": "/bench/held" });
        let held = self.check(CHECKS, held).await?;
        Ok(self.row("check, units held", &held, "0", |cost| cost.calls == 0.0))
    }

    async fn leasing(&mut self) -> Result<Cost> {
        let new = |n| json!({ "userId": format!("new-{n}"), "resource": "/bench/held" });
        let leased = self.check(CHECKS, new).await?;
        Ok(self.row("check, nothing held: a lease", &leased, "1 write", |cost| {
            cost.calls <= 1.0 && cost.units <= 1.0
        }))
    }

    async fn asking_each_time(&mut self) -> Result<(Cost, Cost)> {
        let one = |_| json!({ "userId": "one", "resource": "/bench/one" });
        let one = self.check(CHECKS, one).await?;
        let one = self.row("check, 1 small quota", &one, "1 write", |cost| {
            cost.calls <= 1.0 && cost.units <= 1.0
        });
        let two = |_| json!({ "userId": "two", "clientIp": "192.0.2.2", "resource": "/bench/two" });
        let two = self.check(CHECKS, two).await?;
        let two = self.row("check, 2 small quotas", &two, "1 transaction of 2", |cost| {
            cost.calls <= 1.0 && cost.units <= 4.0
        });
        let none = |_| json!({ "userId": "none", "resource": "/bench/none" });
        let refused = self.check(CHECKS, none).await?;
        self.row("check, refused: the quota is used up", &refused, "0", |cost| cost.calls == 0.0);
        Ok((one, two))
    }

    /// The cheapest of a few, because a lease of the caller may end meanwhile.
    async fn refreshing(&mut self) -> Result<Cost> {
        let mut costs = Vec::new();
        for _ in 0..3 {
            tokio::time::sleep(FRESH).await;
            let held = |_| json!({ "userId": "held", "resource": "/bench/held" });
            costs.extend(self.check(1, held).await?);
        }
        costs.sort_by(|one, other| one.calls.total_cmp(&other.calls));
        costs.truncate(1);
        Ok(self.row("look for new rules, every 5 s and node", &costs, "1 read", |cost| {
            cost.calls <= 1.0
        }))
    }

    /// A report is written after an answer, so no line tells what it took: asked in process.
    fn reporting(&mut self) -> Result<u64> {
        let program = build_example("boundary", "admit-path")?;
        let (_, writes) = cpu_each(&program, &["report", "100"])?;
        let writes = writes.ok_or("no calls")?;
        let what = "report of 100 callers, every minute and node: writes";
        let verdict = Verdict::Counted(writes <= REPORTED);
        self.table.row(what, writes.to_string(), &format!("≤ {REPORTED}"), verdict);
        Ok(writes)
    }

    /// Asks `count` times and says what each took. A refusal is an answer too.
    async fn check(&mut self, count: usize, body: impl Fn(usize) -> Value) -> Result<Vec<Cost>> {
        for number in 0..count {
            let call = ("POST", "/internal/ratelimit/check");
            let answer = self.client.call(call, &[], Some(&body(number)), true).await;
            if let Err(error) = answer
                && !error.to_string().contains(" 429 ")
            {
                return Err(error);
            }
        }
        self.lines("checkLimit", count).await
    }

    async fn lines(&self, operation: &str, count: usize) -> Result<Vec<Cost>> {
        let lines = self.log.next(count, |line| line["Operation"] == operation).await?;
        let number = |line: &Value, name: &str| line[name].as_f64().unwrap_or(0.0);
        let cost = |line: &Value| Cost {
            calls: number(line, "store_calls"),
            units: number(line, "store_units"),
            messages: 0.0,
        };
        Ok(lines.iter().map(cost).collect())
    }

    #[expect(clippy::cast_precision_loss, reason = "a few dozen at most")]
    fn row(&mut self, what: &str, costs: &[Cost], bar: &str, kept: impl Fn(&Cost) -> bool) -> Cost {
        let mut sorted = costs.to_vec();
        sorted.sort_by(|one, other| one.units.total_cmp(&other.units));
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
        let mean = |part: fn(&Cost) -> f64| {
            costs.iter().map(part).sum::<f64>() / costs.len().max(1) as f64
        };
        let (calls, units) = (mean(|cost| cost.calls), mean(|cost| cost.units));
        let measured = format!("{} · {} ({calls:.2} · {units:.2})", median.calls, median.units);
        self.table.row(what, measured, bar, Verdict::Counted(kept(&median)));
        median
    }
}
