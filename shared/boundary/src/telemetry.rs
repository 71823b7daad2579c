//! One JSON line for each request, message batch and scheduled run: the log and the metrics at once.
//!
//! Lines follow CloudWatch's embedded metric format, so latency and faults become metrics without
//! another call. Absent from every line: secrets, tokens, addresses, bodies.

mod measure;
mod trace;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::capacity::CapacityUsed;

use crate::Entropy;
pub use measure::{Measure, Unit, measure, measure_of, measured, measured_now};
pub use trace::Trace;

/// Where lines go: standard output in Lambda, a file or a buffer elsewhere.
#[derive(Clone)]
pub struct Log {
    write: Arc<dyn Fn(&str) + Send + Sync>,
    cold: Arc<AtomicBool>,
}

impl Log {
    /// Standard output, which Lambda ships to CloudWatch.
    #[expect(clippy::print_stdout, reason = "standard output is Lambda's log")]
    pub fn stdout() -> Self {
        Self::new(|line| println!("{line}"))
    }

    /// A log that hands each line to `write`.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { write: Arc::new(write), cold: Arc::new(AtomicBool::new(true)) }
    }

    /// The same log for another instance, whose first line is a cold one again.
    #[must_use]
    pub fn for_instance(&self) -> Self {
        Self { write: Arc::clone(&self.write), cold: Arc::new(AtomicBool::new(true)) }
    }

    /// Writes one line about one invocation.
    pub fn report(&self, report: &Report<'_>) {
        let cold = self.cold.swap(false, Ordering::Relaxed);
        if let Ok(line) = serde_json::to_string(&report.line(cold)) {
            (self.write)(&line);
        }
        for measure in report.measures.iter().filter(|measure| !measure.dimensions.is_empty()) {
            (self.write)(&report.metric(measure).to_string());
        }
    }

    /// Writes a line that its caller shaped: a summary of many invocations, or a metric of its own.
    pub fn line(&self, line: &impl Serialize) {
        if let Ok(line) = serde_json::to_string(line) {
            (self.write)(&line);
        }
    }

    /// Writes a warning that belongs to a trace but not to an outcome.
    pub fn warn(&self, at: Timestamp, trace: &Trace, message: &str) {
        let line = json!({
            "timestamp": at, "level": "WARN", "message": message, "trace_id": trace.id(),
        });
        (self.write)(&line.to_string());
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

/// What is known of an invocation once it is over.
#[derive(Debug)]
pub struct Report<'a> {
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub milliseconds: f64,
    /// The stage, as metrics name it.
    pub stage: &'a str,
    /// The operation, as metrics and the OpenAPI document name it.
    pub operation: &'a str,
    /// A sentence for people.
    pub message: String,
    /// Which trace it belongs to.
    pub trace: &'a Trace,
    /// What it cost at the store.
    pub capacity: CapacityUsed,
    /// Why it failed, if it was our fault.
    pub fault: Option<&'a str>,
    /// Everything else worth a field.
    pub fields: Fields,
    /// What the handler measured besides.
    pub measures: Vec<Measure>,
}

/// Extra fields of a line.
pub type Fields = Map<String, Value>;

#[derive(Serialize)]
struct Line<'a> {
    timestamp: Timestamp,
    level: &'static str,
    message: &'a str,
    #[serde(rename = "Stage")]
    stage: &'a str,
    #[serde(rename = "Operation")]
    operation: &'a str,
    #[serde(rename = "Latency")]
    latency: f64,
    #[serde(rename = "Faults")]
    faults: u8,
    trace_id: String,
    cold: bool,
    store_calls: u32,
    store_units: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'a str>,
    #[serde(flatten)]
    fields: &'a Fields,
    #[serde(flatten)]
    measures: Fields,
    _aws: EmfMetadata<'a>,
}

/// The `_aws` field of a line in CloudWatch's embedded metric format.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct EmfMetadata<'a> {
    timestamp: i64,
    cloud_watch_metrics: [MetricDirective<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct MetricDirective<'a> {
    namespace: &'static str,
    dimensions: [&'a [&'static str]; 1],
    metrics: Vec<MetricDefinition>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct MetricDefinition {
    name: &'static str,
    unit: &'static str,
}

impl<'a> EmfMetadata<'a> {
    /// The dimensions of most metrics.
    pub const DIMENSIONS: &'static [&'static str] = &["Stage", "Operation"];

    /// Declares the line's `metrics`, each a field of the line, and so each of its `dimensions`.
    pub fn new(
        at: Timestamp,
        dimensions: &'a [&'static str],
        metrics: impl IntoIterator<Item = (&'static str, Unit)>,
    ) -> Self {
        let metrics = metrics.into_iter();
        let metrics = metrics.map(|(name, unit)| MetricDefinition { name, unit: unit.name() });
        let directive = MetricDirective {
            namespace: "Switchyard",
            dimensions: [dimensions],
            metrics: metrics.collect(),
        };
        Self { timestamp: at.as_millisecond(), cloud_watch_metrics: [directive] }
    }
}

impl Report<'_> {
    /// A line for a metric with dimensions of its own.
    fn metric(&self, measure: &Measure) -> Value {
        let mut names = vec!["Stage"];
        names.extend(measure.dimensions.iter().map(|(name, _)| *name));
        let mut line = json!({
            "timestamp": self.at, "level": "INFO", "message": measure.name, "Stage": self.stage,
            "_aws": EmfMetadata::new(self.at, &names, [(measure.name, measure.unit)]),
        });
        for (name, value) in &measure.dimensions {
            line[*name] = json!(value);
        }
        line[measure.name] = json!(measure.value);
        line
    }

    fn line(&self, cold: bool) -> Line<'_> {
        let mut metrics = vec![("Latency", Unit::Milliseconds), ("Faults", Unit::Count)];
        let mut measures = Fields::new();
        let plain = self.measures.iter().filter(|measure| measure.dimensions.is_empty());
        for Measure { name, unit, value, .. } in plain {
            metrics.push((*name, *unit));
            measures.insert((*name).to_owned(), json!(value));
        }
        Line {
            timestamp: self.at,
            level: if self.fault.is_some() { "ERROR" } else { "INFO" },
            message: &self.message,
            stage: self.stage,
            operation: self.operation,
            latency: (self.milliseconds * 1000.0).round() / 1000.0,
            faults: u8::from(self.fault.is_some()),
            trace_id: self.trace.id(),
            cold,
            store_calls: self.capacity.calls,
            store_units: self.capacity.units,
            fault: self.fault,
            fields: &self.fields,
            measures,
            _aws: EmfMetadata::new(self.at, EmfMetadata::DIMENSIONS, metrics),
        }
    }
}

/// Measures how long something took, by a clock that never steps.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(std::time::Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "durations are measured here and nowhere else")]
    pub fn start() -> Self {
        Self(std::time::Instant::now())
    }

    /// Milliseconds since the start.
    pub fn milliseconds(self) -> f64 {
        self.0.elapsed().as_secs_f64() * 1000.0
    }
}

/// The trace an invocation belongs to: the one it was handed, or a new one.
pub fn trace_of(handed: Option<&str>, entropy: &Entropy) -> Trace {
    handed.and_then(|text| Trace::parse(text, entropy)).unwrap_or_else(|| Trace::new(entropy))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_line_is_a_log_and_a_metric_and_only_the_first_is_cold() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let log = Log::new(move |line| kept.lock().unwrap().push(line.to_owned()));
        let trace = Trace::new(&Entropy::new(|bytes| bytes.fill(7)));
        let report = Report {
            at: Timestamp::UNIX_EPOCH,
            milliseconds: 1.23456,
            stage: "test",
            operation: "makeIds",
            message: "POST /api/v1/ids 200".to_owned(),
            trace: &trace,
            capacity: CapacityUsed { calls: 2, units: 1.5 },
            fault: None,
            fields: Fields::new(),
            measures: Vec::new(),
        };
        log.report(&report);
        log.report(&report);
        let lines = lines.lock().unwrap();
        let first: Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!(first["cold"], true);
        assert_eq!(first["Latency"], 1.235);
        assert_eq!(first["_aws"]["CloudWatchMetrics"][0]["Metrics"][0]["Name"], "Latency");
        assert_eq!(
            first["_aws"]["CloudWatchMetrics"][0]["Dimensions"],
            json!([["Stage", "Operation"]])
        );
        assert_eq!(serde_json::from_str::<Value>(&lines[1]).unwrap()["cold"], false);
        assert!(lines[1].len() < 500, "{} bytes: {}", lines[1].len(), lines[1]);
    }
}
