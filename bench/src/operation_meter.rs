//! What operations ask of the store, read from the functions' own log.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::Result;
use crate::cold::target;
use crate::links::{Client, Cost, LocalCloud, Log};
use crate::table::{Table, Verdict};

/// A running cloud, its log, and the table that what is counted goes into.
pub(crate) struct OperationMeter {
    pub(crate) client: Client,
    pub(crate) table: Table,
    file: PathBuf,
    /// Where each operation has been read to.
    logs: BTreeMap<String, Log>,
    server: LocalCloud,
}

impl OperationMeter {
    /// Starts a cloud with an empty folder.
    pub(crate) async fn start() -> Result<Self> {
        let folder = target()?.join("bench/data");
        let server = LocalCloud::start(Some(&folder), None)?;
        Ok(Self {
            client: Client::connect(&server.api).await?,
            table: Table::new("Counted for each operation: calls · units (mean)", "bar"),
            file: folder.join("functions.log"),
            logs: BTreeMap::new(),
            server,
        })
    }

    pub(crate) const fn server(&self) -> &LocalCloud {
        &self.server
    }

    /// A POST by the admin; its answer.
    pub(crate) async fn post(&mut self, path: &str, body: &Value) -> Result<Value> {
        let answer = self.client.call(("POST", path), &[], Some(body), true).await?;
        Ok(serde_json::from_slice(answer.body()).unwrap_or_default())
    }

    /// Reads the next `count` lines of an operation, or all there are for 0, and adds a row: what most
    /// of them cost, and the mean. Gives the former, or for 0 the latter.
    #[expect(clippy::cast_precision_loss, reason = "a few dozen at most")]
    pub(crate) async fn row(
        &mut self,
        operation: &str,
        count: usize,
        what: &str,
        bar: &str,
        kept: impl Fn(&Cost) -> bool,
    ) -> Result<Cost> {
        let wanted = |line: &Value| line["Operation"] == operation;
        let log = self.logs.entry(operation.to_owned()).or_insert_with(|| Log::open(&self.file));
        let lines = match count {
            0 => log.rest(wanted)?,
            count => log.next(count, wanted).await?,
        };
        let number = |line: &Value, name: &str| line[name].as_f64().unwrap_or(0.0);
        let mut costs: Vec<Cost> = lines
            .iter()
            .map(|line| Cost {
                calls: number(line, "store_calls"),
                units: number(line, "store_units"),
                messages: 0.0,
            })
            .collect();
        let mean = |part: fn(&Cost) -> f64| {
            costs.iter().map(part).sum::<f64>() / costs.len().max(1) as f64
        };
        let (calls, units) = (mean(|cost| cost.calls), mean(|cost| cost.units));
        costs.sort_by(|one, other| one.units.total_cmp(&other.units));
        let median = costs.get(costs.len() / 2).copied().unwrap_or_default();
        let measured = format!("{} · {} ({calls:.2} · {units:.2})", median.calls, median.units);
        let verdict = if bar.is_empty() { Verdict::Note } else { Verdict::Counted(kept(&median)) };
        self.table.row(what, measured, bar, verdict);
        Ok(if count == 0 { Cost { calls, units, messages: 0.0 } } else { median })
    }
}

/// Adds a row of how long something took, each by a caller that waits for its answer.
pub(crate) fn show(table: &mut Table, what: &str, took: &[Duration], bar: Duration) {
    let mut sorted = took.to_vec();
    sorted.sort_unstable();
    let at = |share: usize| sorted.get(sorted.len() * share / 100).copied().unwrap_or_default();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let measured = format!("{:.1} ms · {:.1} ms", ms(at(50)), ms(at(99)));
    let bar_said = format!("p99 < {:.0} ms", ms(bar));
    table.row(&format!("{what}, p50 · p99"), measured, &bar_said, Verdict::Speed(at(99) < bar));
}
