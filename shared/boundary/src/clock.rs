//! The time of day, as an argument.

use std::fmt;
use std::sync::Arc;

use domain::Timestamp;

/// The time of day. Functions get the machine's clock; tests get one they can move.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The machine's clock.
    #[expect(clippy::disallowed_methods, reason = "this is where time comes in")]
    pub fn system() -> Self {
        Self::new(|| Timestamp::try_from(std::time::SystemTime::now()).unwrap_or(Timestamp::MAX))
    }

    /// A clock that shows what `now` returns.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// What it shows, to the millisecond: as precisely as rows keep it, so that what is answered
    /// at once and what is read back later are the same.
    pub fn now(&self) -> Timestamp {
        let now = (self.0)();
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.now())
    }
}
