//! Idle connections to one server, kept for the next request.
//!
//! Guarantee: a connection that has been idle for a minute is not used again: a firewall on the way may
//! have forgotten it without a word. Absent: whether the server closed it, which the caller checks.

use domain::Timestamp;
use parking_lot::Mutex;

const MAX_IDLE_SECONDS: i64 = 60;

/// As many as a batch has messages.
const MAX_CONNECTIONS: usize = 10;

/// The connections that are not in use.
pub struct IdleConnections<C>(Mutex<Vec<(C, Timestamp)>>);

impl<C> IdleConnections<C> {
    /// The connection that was used last; those idle for too long are closed.
    pub fn take(&self, now: Timestamp) -> Option<C> {
        let mut idle = self.0.lock();
        while let Some((connection, used_at)) = idle.pop() {
            let seconds = now.as_second().saturating_sub(used_at.as_second());
            if (0..MAX_IDLE_SECONDS).contains(&seconds) {
                return Some(connection);
            }
        }
        None
    }

    /// Keeps a connection for the next request.
    pub fn put(&self, connection: C, now: Timestamp) {
        let mut idle = self.0.lock();
        if idle.len() < MAX_CONNECTIONS {
            idle.push((connection, now));
        }
    }
}

impl<C> Default for IdleConnections<C> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}
