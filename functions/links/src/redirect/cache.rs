//! Routes that were read a moment ago.
//!
//! Guarantee: a route is served for [`LIFE_MS`] from the start of its read and never longer, however
//! often it is hit; with what an eventually consistent read may lag, a change is seen everywhere
//! within five seconds. That a code has no link is kept as long. Requests that miss together wait for
//! one read. Absent: a stale answer when the store fails.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use domain::Failure;
use domain::links::Route;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use parking_lot::{Mutex, MutexGuard};

/// How long a route is good, from the start of its read.
pub(crate) const LIFE_MS: i64 = 4_000;

/// The most routes kept.
const MOST: usize = 10_000;

/// A route, or that there is none.
pub(crate) type Found = Option<Arc<Route>>;

type Read = Shared<BoxFuture<'static, Result<Found, Arc<Failure>>>>;

/// Routes by what they were asked for with.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    entries: HashMap<Arc<str>, Entry>,
    /// What was kept, oldest first: since hits prolong nothing, also what expires first.
    order: VecDeque<(Arc<str>, i64)>,
    reads: HashMap<Arc<str>, (i64, Read)>,
}

#[derive(Debug)]
struct Entry {
    read_at_ms: i64,
    found: Found,
}

impl Cache {
    /// What is known of `key`, if it is still good.
    pub(crate) fn get(&self, key: &str, now_ms: i64) -> Option<Found> {
        let inner = self.lock();
        let entry = inner.entries.get(key)?;
        is_young(entry.read_at_ms, now_ms).then(|| entry.found.clone())
    }

    /// What `load` finds for `key`, or what another request is reading at this moment.
    pub(crate) async fn read(
        &self,
        key: &str,
        now_ms: i64,
        load: impl FnOnce() -> BoxFuture<'static, Result<Option<Route>, Failure>>,
    ) -> Result<Found, Arc<Failure>> {
        let (started_ms, read) = self.lock().join(key, now_ms, load);
        let found = read.await;
        self.lock().finish(key, started_ms, now_ms, &found);
        found
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock()
    }
}

impl Inner {
    /// The read that is under way, unless what it finds would be too old for this request.
    fn join(
        &mut self,
        key: &str,
        now_ms: i64,
        load: impl FnOnce() -> BoxFuture<'static, Result<Option<Route>, Failure>>,
    ) -> (i64, Read) {
        // A request that was given up leaves its read behind.
        self.reads.retain(|_, (started_ms, _)| is_young(*started_ms, now_ms));
        if let Some((started_ms, read)) = self.reads.get(key) {
            return (*started_ms, read.clone());
        }
        let read = load().map(|found| found.map(|route| route.map(Arc::new)).map_err(Arc::new));
        let read = read.boxed().shared();
        self.reads.insert(Arc::from(key), (now_ms, read.clone()));
        (now_ms, read)
    }

    /// Keeps what was found. Of those who waited together the first does it.
    fn finish(
        &mut self,
        key: &str,
        started_ms: i64,
        now_ms: i64,
        found: &Result<Found, Arc<Failure>>,
    ) {
        if self.reads.get(key).is_none_or(|(other_ms, _)| *other_ms != started_ms) {
            return;
        }
        self.reads.remove(key);
        let Ok(found) = found else { return };
        self.make_room(now_ms);
        let key: Arc<str> = Arc::from(key);
        self.order.push_back((Arc::clone(&key), started_ms));
        self.entries.insert(key, Entry { read_at_ms: started_ms, found: found.clone() });
    }

    /// Forgets what is no longer good, and the oldest if that is not enough.
    fn make_room(&mut self, now_ms: i64) {
        while let Some((key, read_at_ms)) = self.order.front() {
            if is_young(*read_at_ms, now_ms) && self.order.len() < MOST {
                return;
            }
            // A key that was read again since has a later place in the order too.
            if self.entries.get(key).is_some_and(|entry| entry.read_at_ms == *read_at_ms) {
                self.entries.remove(key);
            }
            self.order.pop_front();
        }
    }
}

/// A clock that stepped back says nothing about an entry's age, so it counts as old.
fn is_young(since_ms: i64, now_ms: i64) -> bool {
    (0..LIFE_MS).contains(&(now_ms - since_ms))
}

#[cfg(test)]
mod tests;
