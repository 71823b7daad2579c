//! What a handler measures beside latency and faults: collected where it happens, written with the line.

use std::cell::RefCell;
use std::future::Future;

/// The unit of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Count,
    Milliseconds,
    Seconds,
    /// Parts of a hundred.
    Percent,
}

impl Unit {
    /// As CloudWatch writes it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Count => "Count",
            Self::Milliseconds => "Milliseconds",
            Self::Seconds => "Seconds",
            Self::Percent => "Percent",
        }
    }
}

/// A value of a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricValue {
    pub name: &'static str,
    pub unit: Unit,
    pub value: f64,
    /// Its dimensions beside stage and operation.
    pub dimensions: Vec<(&'static str, String)>,
}

tokio::task_local! {
    static CURRENT: RefCell<Vec<MetricValue>>;
}

/// Adds to a metric of the invocation that is running.
pub fn measure(name: &'static str, unit: Unit, value: f64) {
    measure_by(name, unit, value, Vec::new());
}

/// Adds to a metric with dimensions beside stage and operation, which takes a line of its own.
pub fn measure_by(
    name: &'static str,
    unit: Unit,
    value: f64,
    dimensions: Vec<(&'static str, String)>,
) {
    // Outside an invocation there is no line to write it on.
    let _ = CURRENT.try_with(|current| {
        let mut metrics = current.borrow_mut();
        let same =
            |measure: &&mut MetricValue| measure.name == name && measure.dimensions == dimensions;
        match metrics.iter_mut().find(same) {
            Some(measure) => measure.value += value,
            None => metrics.push(MetricValue { name, unit, value, dimensions }),
        }
    });
}

/// Runs `work` and returns the metrics that it measured.
pub async fn collect_metrics<T>(work: impl Future<Output = T>) -> (T, Vec<MetricValue>) {
    CURRENT
        .scope(RefCell::default(), async {
            let answer = work.await;
            (answer, CURRENT.with(RefCell::take))
        })
        .await
}

/// The same for work that waits for nothing.
pub fn collect_metrics_sync<T>(work: impl FnOnce() -> T) -> (T, Vec<MetricValue>) {
    CURRENT.sync_scope(RefCell::default(), || {
        let answer = work();
        (answer, CURRENT.with(RefCell::take))
    })
}
