//! What a handler measures beside latency and faults: noted where it happens, written with the line.

use std::cell::RefCell;
use std::future::Future;

/// What a number counts.
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

/// A number under its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    pub name: &'static str,
    /// What it counts.
    pub unit: Unit,
    pub value: f64,
    /// Of what, beside stage and operation.
    pub dimensions: Vec<(&'static str, String)>,
}

tokio::task_local! {
    static CURRENT: RefCell<Vec<Measure>>;
}

/// Adds to a metric of the invocation that is running.
pub fn measure(name: &'static str, unit: Unit, value: f64) {
    measure_of(name, unit, value, Vec::new());
}

/// Adds to a metric that is kept apart by more than stage and operation, which takes a line of its own.
pub fn measure_of(
    name: &'static str,
    unit: Unit,
    value: f64,
    dimensions: Vec<(&'static str, String)>,
) {
    // Outside an invocation there is no line to write it on.
    let _ = CURRENT.try_with(|current| {
        let mut measures = current.borrow_mut();
        let same =
            |measure: &&mut Measure| measure.name == name && measure.dimensions == dimensions;
        match measures.iter_mut().find(same) {
            Some(measure) => measure.value += value,
            None => measures.push(Measure { name, unit, value, dimensions }),
        }
    });
}

/// Runs `work` and returns what it measured.
pub async fn measured<T>(work: impl Future<Output = T>) -> (T, Vec<Measure>) {
    CURRENT
        .scope(RefCell::default(), async {
            let answer = work.await;
            (answer, CURRENT.with(RefCell::take))
        })
        .await
}

/// The same for work that waits for nothing.
pub fn measured_now<T>(work: impl FnOnce() -> T) -> (T, Vec<Measure>) {
    CURRENT.sync_scope(RefCell::default(), || {
        let answer = work();
        (answer, CURRENT.with(RefCell::take))
    })
}
