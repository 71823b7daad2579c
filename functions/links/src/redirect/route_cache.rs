//! A cache of routes, with a fixed time to live and one load for concurrent misses.
//!
//! Guarantee: a route is served for [`TTL_MS`] from the start of its read and never longer, however
//! often it is hit; with what an eventually consistent read may lag, a change is seen everywhere
//! within five seconds. That a code has no link is cached as long. Requests that miss together wait for
//! one read. Absent: a stale answer when the store fails.
//!
//! Not moka, whose time to live follows its own clock and not the one that is passed in; nor
//! `quick_cache`, which has none and would join a request to a load that is too old for it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use domain::links::Route;
use domain::{Failure, Result};
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use parking_lot::Mutex;

/// How long a route is fresh, from the start of its read.
pub(crate) const TTL_MS: i64 = 4_000;

/// The most routes cached.
const MAX_ROUTES: usize = 10_000;

/// A route, or that there is none.
pub(crate) type CachedRoute = Option<Arc<Route>>;

type Load = Shared<BoxFuture<'static, Result<CachedRoute, Arc<Failure>>>>;

/// Routes by [`LinkLookup::key`](crate::redirect::link_lookup::LinkLookup::key).
#[derive(Debug, Default)]
pub(crate) struct RouteCache(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    entries: HashMap<Arc<str>, Entry>,
    /// The entries' keys, oldest first: since hits prolong nothing, also in order of expiry.
    order: VecDeque<(Arc<str>, i64)>,
    loads: HashMap<Arc<str>, (i64, Load)>,
}

#[derive(Debug)]
struct Entry {
    read_at_ms: i64,
    found: CachedRoute,
}

impl RouteCache {
    /// The cached route, if it is still fresh.
    pub(crate) fn get(&self, key: &str, now_ms: i64) -> Option<CachedRoute> {
        let inner = self.0.lock();
        let entry = inner.entries.get(key)?;
        is_fresh(entry.read_at_ms, now_ms).then(|| entry.found.clone())
    }

    /// The route from `load`, or from the load of another request that is in flight.
    pub(crate) async fn get_or_load(
        &self,
        key: &str,
        now_ms: i64,
        load: impl FnOnce() -> BoxFuture<'static, Result<Option<Route>>>,
    ) -> Result<CachedRoute, Arc<Failure>> {
        let (started_ms, load) = self.0.lock().join_load(key, now_ms, load);
        let found = load.await;
        self.0.lock().finish_load(key, started_ms, now_ms, &found);
        found
    }
}

impl Inner {
    /// The load that is in flight, or a new one if its result would be too old for this request.
    fn join_load(
        &mut self,
        key: &str,
        now_ms: i64,
        load: impl FnOnce() -> BoxFuture<'static, Result<Option<Route>>>,
    ) -> (i64, Load) {
        // A request that was cancelled leaves its load behind.
        self.loads.retain(|_, (started_ms, _)| is_fresh(*started_ms, now_ms));
        if let Some((started_ms, load)) = self.loads.get(key) {
            return (*started_ms, load.clone());
        }
        let load = load().map(|found| found.map(|route| route.map(Arc::new)).map_err(Arc::new));
        let load = load.boxed().shared();
        self.loads.insert(Arc::from(key), (now_ms, load.clone()));
        (now_ms, load)
    }

    /// Caches the result; of the requests that waited together, the first does.
    fn finish_load(
        &mut self,
        key: &str,
        started_ms: i64,
        now_ms: i64,
        found: &Result<CachedRoute, Arc<Failure>>,
    ) {
        if self.loads.get(key).is_none_or(|(other_ms, _)| *other_ms != started_ms) {
            return;
        }
        self.loads.remove(key);
        let Ok(found) = found else { return };
        self.evict(now_ms);
        let key: Arc<str> = Arc::from(key);
        self.order.push_back((Arc::clone(&key), started_ms));
        self.entries.insert(key, Entry { read_at_ms: started_ms, found: found.clone() });
    }

    /// Removes what is no longer fresh, and the oldest entry if the cache is full.
    fn evict(&mut self, now_ms: i64) {
        while let Some((key, read_at_ms)) = self.order.front() {
            if is_fresh(*read_at_ms, now_ms) && self.order.len() < MAX_ROUTES {
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

/// An entry from the future (the clock stepped back) is of unknown age, so it is not fresh.
fn is_fresh(since_ms: i64, now_ms: i64) -> bool {
    (0..TTL_MS).contains(&(now_ms - since_ms))
}

#[cfg(test)]
mod tests;
