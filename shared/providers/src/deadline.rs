//! The time that one message may take, however many requests it needs.

use std::time::Duration;

use egress::FetchLimits;
use tokio::time::Instant;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    at: Instant,
    max_bytes: usize,
}

impl Deadline {
    /// `timeout` from now, for responses of at most `max_bytes`.
    pub(crate) fn new(timeout: Duration, max_bytes: usize) -> Self {
        Self { at: Instant::now() + timeout, max_bytes }
    }

    pub(crate) fn at(&self) -> Instant {
        self.at
    }

    /// What is left for the next request.
    pub(crate) fn limits(&self) -> FetchLimits {
        let timeout = self.at.saturating_duration_since(Instant::now());
        FetchLimits { bytes: self.max_bytes, redirects: 0, timeout }
    }
}
