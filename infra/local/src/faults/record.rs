//! Records the calls that services carried out, so that a test can compare them with their effects.
//!
//! A call is recorded once the service has carried it out, also if a fault then loses the answer; a call
//! that a fault stopped on its way is absent.

use parking_lot::Mutex;

use bytes::Bytes;

use super::ServiceCall;

/// Selects calls.
pub type CallFilter = fn(&ServiceCall) -> bool;

/// A call that a service carried out.
#[derive(Debug, Clone)]
pub struct RecordedCall {
    pub operation: String,
    pub body: Bytes,
    /// Whether the service did it.
    pub done: bool,
}

#[derive(Default)]
pub(super) struct Record(Mutex<Option<(CallFilter, Vec<RecordedCall>)>>);

impl Record {
    pub(super) fn start(&self, wanted: CallFilter) {
        *self.0.lock() = Some((wanted, Vec::new()));
    }

    pub(super) fn push(&self, call: &ServiceCall, done: bool) {
        let mut record = self.0.lock();
        if let Some((wanted, kept)) = record.as_mut()
            && wanted(call)
        {
            let (operation, body) = (call.operation.clone(), call.body.clone());
            kept.push(RecordedCall { operation, body, done });
        }
    }

    pub(super) fn calls(&self) -> Vec<RecordedCall> {
        let record = self.0.lock();
        record.as_ref().map(|(_, kept)| kept.clone()).unwrap_or_default()
    }

    pub(super) fn count(&self) -> usize {
        let record = self.0.lock();
        record.as_ref().map_or(0, |(_, kept)| kept.len())
    }
}
