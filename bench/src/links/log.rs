//! The functions' log: one line of JSON for each request, message or stretch of redirects.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Result;

/// A line that is not there by then will not come; queues gather for up to five seconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// What something cost.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    pub(crate) calls: f64,
    /// Capacity units, reads and writes together.
    pub(crate) units: f64,
    pub(crate) messages: f64,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} · {} · {}", short(self.calls), short(self.units), short(self.messages))
    }
}

fn short(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The log of one running cloud.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    seen: std::cell::Cell<usize>,
}

impl Log {
    pub(crate) fn open(path: &Path) -> Self {
        Self { path: path.to_owned(), seen: std::cell::Cell::new(0) }
    }

    /// The mean cost of the next `count` lines about `operation`; all others so far are passed over.
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    pub(crate) async fn mean(&self, operation: &str, count: usize) -> Result<Cost> {
        let lines = self.next(count, |line| line["Operation"] == operation).await?;
        let mut sum = Cost::default();
        for line in &lines {
            sum.calls += line["store_calls"].as_f64().unwrap_or(0.0);
            sum.units += line["store_units"].as_f64().unwrap_or(0.0);
            // A line of redirects is written when its clicks are sent, as one message.
            sum.messages += if line["ClicksSent"].as_u64() > Some(0) { 1.0 } else { 0.0 };
        }
        let count = count as f64;
        Ok(Cost {
            calls: sum.calls / count,
            units: sum.units / count,
            messages: sum.messages / count,
        })
    }

    /// Every line so far that passes the filter.
    pub(crate) fn rest(&self, filter: impl Fn(&Value) -> bool) -> Result<Vec<Value>> {
        let text = fs::read_to_string(&self.path)?;
        let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        Ok(lines.filter(&filter).collect())
    }

    /// The next `count` lines that pass the filter, waited for.
    pub(crate) async fn next(
        &self,
        count: usize,
        filter: impl Fn(&Value) -> bool,
    ) -> Result<Vec<Value>> {
        let started = Instant::now();
        loop {
            let text = fs::read_to_string(&self.path)?;
            let whole = text.rfind('\n').map_or(0, |end| end + 1);
            let fresh = text.get(self.seen.get()..whole).unwrap_or_default();
            let lines = fresh.lines().filter_map(|line| serde_json::from_str(line).ok());
            let found: Vec<Value> = lines.filter(&filter).collect();
            if found.len() == count {
                self.seen.set(whole);
                return Ok(found);
            }
            if found.len() > count || started.elapsed() > PATIENCE {
                let lines = found.len();
                return Err(format!("{lines} lines in the functions' log, not {count}").into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
