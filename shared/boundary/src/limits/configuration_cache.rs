//! How fresh a node's rules and firewall are: looked at when they are used, and after an answer.

use std::sync::Arc;
use std::time::Duration;

use domain::Timestamp;

use super::Limiter;
use super::configuration::{self, Configuration};
use crate::telemetry::{Unit, measure};

/// How old rules and firewall may be. A block must reach every node in 10 seconds and a rule in 30.
const MAX_AGE_MS: i64 = 5_000;

/// How old they may be after an answer. Renewed then, they never hold up a node that is busy.
pub(super) const REFRESH_AFTER_MS: i64 = 3_000;

/// How long reading them may take, and how long they are used as they are if they can't be read.
const READ_TIMEOUT: Duration = Duration::from_secs(1);
const RETRY_MS: i64 = 1_000;

#[derive(Debug, Clone)]
pub(super) struct ConfigurationCache {
    pub(super) configuration: Arc<Configuration>,
    /// When it was last known to be current; before the first look, never.
    checked_ms: i64,
    /// When a look that failed is worth another.
    retry_at_ms: i64,
}

impl Default for ConfigurationCache {
    fn default() -> Self {
        Self { configuration: Arc::default(), checked_ms: i64::MIN, retry_at_ms: i64::MIN }
    }
}

impl Limiter {
    /// Whether rules and firewall can be used as they are. A clock that went back makes them old.
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        self.is_younger(MAX_AGE_MS, now)
    }

    fn is_younger(&self, limit_ms: i64, now: Timestamp) -> bool {
        let (cache, now_ms) = (self.cache.lock(), now.as_millisecond());
        let age = now_ms.saturating_sub(cache.checked_ms);
        (0..limit_ms).contains(&age)
            || (now_ms < cache.retry_at_ms && now_ms > cache.retry_at_ms - 2 * RETRY_MS)
    }

    /// Reads rules and firewall again if they are old and have changed. If they can't be read, those at
    /// hand are used for another second.
    pub async fn refresh(&self, now: Timestamp) {
        self.refresh_after(MAX_AGE_MS, now).await;
    }

    pub(super) async fn refresh_after(&self, limit_ms: i64, now: Timestamp) {
        if self.is_younger(limit_ms, now) {
            return;
        }
        let _one_at_a_time = self.refreshing.lock().await;
        if self.is_younger(limit_ms, now) {
            return;
        }
        let have = Arc::clone(&self.cache.lock().configuration);
        let read = tokio::time::timeout(READ_TIMEOUT, configuration::read(&self.rows, &have)).await;
        let mut cache = self.cache.lock();
        let Ok(Ok(changed)) = read else {
            measure("LimitsUnread", Unit::Count, 1.0);
            // From now, and not from when the request came: a store that says nothing took its time.
            cache.retry_at_ms = self.clock.now().as_millisecond() + RETRY_MS;
            return;
        };
        if let Some(configuration) = changed {
            self.denials.lock().set_thresholds(configuration.settings.auto_block);
            cache.configuration = Arc::new(configuration);
        }
        cache.checked_ms = now.as_millisecond();
    }
}
