//! What a handler measures beside latency and faults: noted where it happens, written with the line.

use std::cell::RefCell;
use std::future::Future;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Things.
    Count,
    /// Time.
    Milliseconds,
}

impl Unit {
    /// As CloudWatch writes it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Count => "Count",
            Self::Milliseconds => "Milliseconds",
        }
    }
}

/// A number under its name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    /// The metric.
    pub name: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// How much.
    pub value: f64,
}

tokio::task_local! {
    static CURRENT: RefCell<Vec<Measure>>;
}

/// Adds to a metric of the invocation that is running.
pub fn measure(name: &'static str, unit: Unit, value: f64) {
    // Outside an invocation there is no line to write it on.
    let _ = CURRENT.try_with(|current| {
        let mut measures = current.borrow_mut();
        match measures.iter_mut().find(|measure| measure.name == name) {
            Some(measure) => measure.value += value,
            None => measures.push(Measure { name, unit, value }),
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
