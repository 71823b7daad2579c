//! The time that one parcel may take, whichever number of requests that is.

use std::time::Duration;

use outside::FetchLimits;
use tokio::time::Instant;

/// What is left of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    ends: Instant,
    bytes: usize,
}

impl Budget {
    /// So much from now on, for answers of so many bytes.
    pub(crate) fn new(time: Duration, bytes: usize) -> Self {
        Self { ends: Instant::now() + time, bytes }
    }

    /// When it is over.
    pub(crate) fn ends(&self) -> Instant {
        self.ends
    }

    /// How far the next request may go.
    pub(crate) fn limits(&self) -> FetchLimits {
        let total = self.ends.saturating_duration_since(Instant::now());
        FetchLimits { bytes: self.bytes, redirects: 0, timeout: total }
    }
}
