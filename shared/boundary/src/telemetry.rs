//! One JSON line for each request, message batch and scheduled run: the log and the metrics at once.
//!
//! Lines follow CloudWatch's embedded metric format, so latency and faults become metrics without
//! another call. Absent from every line: secrets, tokens, addresses, bodies.

mod emf;
mod measure;
mod trace;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::capacity::CapacityUsed;

pub use emf::EmfMetadata;
pub use measure::{MetricValue, Unit, collect_metrics, collect_metrics_sync, measure, measure_by};
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
    pub fn report(&self, report: &InvocationReport<'_>) {
        let cold = self.cold.swap(false, Ordering::Relaxed);
        if let Ok(line) = serde_json::to_string(&report.line(cold)) {
            (self.write)(&line);
        }
        for measure in report.metrics.iter().filter(|measure| !measure.dimensions.is_empty()) {
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

/// An invocation that is over.
#[derive(Debug)]
pub struct InvocationReport<'a> {
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
    pub trace: &'a Trace,
    /// Calls to the store and their capacity units.
    pub capacity: CapacityUsed,
    /// Why it failed, if it was our fault.
    pub fault: Option<&'a str>,
    /// Everything else worth a field.
    pub fields: LogFields,
    /// What the handler measured beside latency and faults.
    pub metrics: Vec<MetricValue>,
}

/// Extra fields of a line.
pub type LogFields = Map<String, Value>;

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
    fields: &'a LogFields,
    #[serde(flatten)]
    metrics: LogFields,
    _aws: EmfMetadata<'a>,
}

impl InvocationReport<'_> {
    /// A line for a metric with dimensions of its own.
    fn metric(&self, measure: &MetricValue) -> Value {
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
        let mut definitions = vec![("Latency", Unit::Milliseconds), ("Faults", Unit::Count)];
        let mut values = LogFields::new();
        let plain = self.metrics.iter().filter(|measure| measure.dimensions.is_empty());
        for MetricValue { name, unit, value, .. } in plain {
            definitions.push((*name, *unit));
            values.insert((*name).to_owned(), json!(value));
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
            metrics: values,
            _aws: EmfMetadata::new(self.at, EmfMetadata::DIMENSIONS, definitions),
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::Entropy;

    #[test]
    fn a_line_is_a_log_and_a_metric_and_only_the_first_is_cold() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let log = Log::new(move |line| kept.lock().unwrap().push(line.to_owned()));
        let trace = Trace::new(&Entropy::new(|bytes| bytes.fill(7)));
        let report = InvocationReport {
            at: Timestamp::UNIX_EPOCH,
            milliseconds: 1.23456,
            stage: "test",
            operation: "makeIds",
            message: "POST /api/v1/ids 200".to_owned(),
            trace: &trace,
            capacity: CapacityUsed { calls: 2, units: 1.5 },
            fault: None,
            fields: LogFields::new(),
            metrics: Vec::new(),
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
