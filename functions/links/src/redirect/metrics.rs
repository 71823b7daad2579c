//! Metrics of many requests as one line: a summary in the log and CloudWatch's metrics at once.
//!
//! The line has the embedded metric format, in which an array is as many values of a metric. Absent: a
//! line for each request, and anything about the visitors.

use std::collections::BTreeMap;

use boundary::telemetry::{EmfMetadata, MetricValue, Unit};
use domain::Timestamp;
use parking_lot::Mutex;
use serde::Serialize;
use store::capacity::CapacityUsed;

/// The most values that the format takes of one metric in one line.
const MAX_VALUES: usize = 100;

/// How a request was answered; each has a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Redirect,
    /// A page about the link, for a person or for a crawler.
    Page,
    /// No such link, or no such method.
    NotFound,
    /// Expired or used up.
    Gone,
    Blocked,
    /// By the firewall or a quota.
    Refused,
    /// The store failed.
    Fault,
}

/// Requests since the last line.
#[derive(Debug, Default)]
pub(crate) struct RedirectMetrics(Mutex<Counts>);

/// How many requests there were, since when, and how far the last two were apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) requests: usize,
    pub(crate) since_ms: i64,
    pub(crate) gap_ms: Option<i64>,
}

#[derive(Debug, Default)]
struct Counts {
    requests: usize,
    since_ms: i64,
    last_ms: Option<i64>,
    gap_ms: Option<i64>,
    values: Values,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Values {
    latency: Vec<f64>,
    redirects: u32,
    pages: u32,
    not_found: u32,
    gone: u32,
    blocked: u32,
    refused: u32,
    faults: u32,
    cache_hits: u32,
    cache_misses: u32,
    clicks_sent: u64,
    clicks_dropped: u64,
    /// Measured by the limiter, under the names that it uses everywhere.
    #[serde(flatten)]
    admission: BTreeMap<&'static str, f64>,
    #[serde(rename = "store_calls")]
    store_calls: u32,
    #[serde(rename = "store_units")]
    store_units: f64,
    #[serde(rename = "fault", skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

impl RedirectMetrics {
    pub(crate) fn record_request(&self, now_ms: i64) {
        let mut counts = self.0.lock();
        counts.gap_ms = counts.last_ms.map(|last_ms| now_ms - last_ms);
        counts.last_ms = Some(now_ms);
        if counts.requests == 0 {
            counts.since_ms = now_ms;
        }
        counts.requests += 1;
    }

    pub(crate) fn record_lookup(&self, hit: bool) {
        let values = &mut self.0.lock().values;
        if hit {
            values.cache_hits += 1;
        } else {
            values.cache_misses += 1;
        }
    }

    pub(crate) fn record_answer(&self, outcome: Outcome, milliseconds: f64) {
        let values = &mut self.0.lock().values;
        let count = match outcome {
            Outcome::Redirect => &mut values.redirects,
            Outcome::Page => &mut values.pages,
            Outcome::NotFound => &mut values.not_found,
            Outcome::Gone => &mut values.gone,
            Outcome::Blocked => &mut values.blocked,
            Outcome::Refused => &mut values.refused,
            Outcome::Fault => &mut values.faults,
        };
        *count += 1;
        if values.latency.len() < MAX_VALUES {
            values.latency.push((milliseconds * 1_000.0).round() / 1_000.0);
        }
    }

    pub(crate) fn record_capacity(&self, capacity: CapacityUsed) {
        let values = &mut self.0.lock().values;
        values.store_calls += capacity.calls;
        values.store_units += capacity.units;
    }

    /// The gate measured something.
    pub(crate) fn record_measures(&self, measures: &[MetricValue]) {
        if measures.is_empty() {
            return;
        }
        let admission = &mut self.0.lock().values.admission;
        for measure in measures {
            *admission.entry(measure.name).or_default() += measure.value;
        }
    }

    /// Clicks went out, and some were dropped.
    pub(crate) fn record_clicks(&self, sent: u64, dropped: u64) {
        let values = &mut self.0.lock().values;
        values.clicks_sent += sent;
        values.clicks_dropped += dropped;
    }

    /// The line carries the last fault.
    pub(crate) fn record_fault(&self, fault: String) {
        self.0.lock().values.fault = Some(fault);
    }

    /// What the next line would be about.
    pub(crate) fn pending(&self) -> Pending {
        let counts = self.0.lock();
        Pending { requests: counts.requests, since_ms: counts.since_ms, gap_ms: counts.gap_ms }
    }

    /// The line about everything since the last one, if there is anything.
    pub(crate) fn take_line(&self, stage: &str, now: Timestamp) -> Option<impl Serialize + use<>> {
        let mut counts = self.0.lock();
        let values = std::mem::take(&mut counts.values);
        let requests = std::mem::take(&mut counts.requests);
        let busy = requests > 0 || values.clicks_sent > 0 || values.fault.is_some();
        busy.then(|| Line::new(stage, now, requests, values))
    }
}

#[derive(Serialize)]
struct Line {
    timestamp: Timestamp,
    level: &'static str,
    message: String,
    #[serde(rename = "Stage")]
    stage: String,
    #[serde(rename = "Operation")]
    operation: &'static str,
    #[serde(flatten)]
    values: Values,
    _aws: EmfMetadata<'static>,
}

impl Line {
    fn new(stage: &str, now: Timestamp, requests: usize, values: Values) -> Self {
        const COUNTS: [&str; 11] = [
            "Redirects",
            "Pages",
            "NotFound",
            "Gone",
            "Blocked",
            "Refused",
            "Faults",
            "CacheHits",
            "CacheMisses",
            "ClicksSent",
            "ClicksDropped",
        ];
        let counts = COUNTS.into_iter().chain(values.admission.keys().copied());
        let counts = counts.map(|name| (name, Unit::Count));
        let metrics = std::iter::once(("Latency", Unit::Milliseconds)).chain(counts);
        let emf = EmfMetadata::new(now, EmfMetadata::DIMENSIONS, metrics);
        Self {
            timestamp: now,
            level: if values.fault.is_some() { "ERROR" } else { "INFO" },
            message: format!("redirect answered {requests}, sent {} clicks", values.clicks_sent),
            stage: stage.to_owned(),
            operation: "redirect",
            values,
            _aws: emf,
        }
    }
}

#[cfg(test)]
mod tests;
