//! What services were really asked for, so that a test can compare it with what came of it.
//!
//! A call is kept once the service has dealt with it, whatever becomes of its answer: what a fault
//! stopped on its way is not there, and what was done but not heard of is. Absent unless asked for.

use parking_lot::Mutex;

use bytes::Bytes;

use super::Call;

/// Which calls a test wants to look at.
pub type CallFilter = fn(&Call) -> bool;

/// A call that a service has dealt with.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub operation: String,
    pub body: Bytes,
    /// Whether the service did it.
    pub done: bool,
}

#[derive(Default)]
pub(super) struct Record(Mutex<Option<(CallFilter, Vec<Recorded>)>>);

impl Record {
    pub(super) fn start(&self, wanted: CallFilter) {
        *self.0.lock() = Some((wanted, Vec::new()));
    }

    pub(super) fn note(&self, call: &Call, done: bool) {
        let mut record = self.0.lock();
        if let Some((wanted, kept)) = record.as_mut()
            && wanted(call)
        {
            let (operation, body) = (call.operation.clone(), call.body.clone());
            kept.push(Recorded { operation, body, done });
        }
    }

    pub(super) fn kept(&self) -> Vec<Recorded> {
        let record = self.0.lock();
        record.as_ref().map(|(_, kept)| kept.clone()).unwrap_or_default()
    }

    pub(super) fn count(&self) -> usize {
        let record = self.0.lock();
        record.as_ref().map_or(0, |(_, kept)| kept.len())
    }
}
