//! How long things are remembered, how many, and who loads them.

use std::sync::atomic::{AtomicUsize, Ordering};

use domain::Timestamp;

use super::*;

fn route(to: &str) -> Route {
    Route {
        to: to.to_owned(),
        variants: Vec::new(),
        status: 302,
        expires_at: None,
        max_clicks: None,
        fallback: None,
        spent: false,
        forward_query: false,
        deleted: false,
        blocked: None,
        created_at: Timestamp::UNIX_EPOCH,
        warnings: Vec::new(),
        title: None,
        description: None,
        image: None,
    }
}

fn finds(to: &str) -> impl FnOnce() -> BoxFuture<'static, Result<Option<Route>, Failure>> {
    let route = route(to);
    move || Box::pin(async move { Ok(Some(route)) })
}

fn to(found: Option<CachedRoute>) -> Option<String> {
    found.flatten().map(|route| route.to.clone())
}

#[tokio::test]
async fn an_entry_lives_four_seconds_however_often_it_is_hit() {
    let cache = RouteCache::default();
    cache.get_or_load("#a", 1_000, finds("x")).await.unwrap();
    for now_ms in 1_000..5_000 {
        assert_eq!(to(cache.get("#a", now_ms)).as_deref(), Some("x"), "{now_ms}");
    }
    assert_eq!(cache.get("#a", 5_000), None);
    assert_eq!(cache.get("#a", 999), None, "the clock stepped back");
}

#[tokio::test]
async fn that_there_is_no_link_is_remembered_and_a_failure_is_not() {
    let cache = RouteCache::default();
    cache.get_or_load("#a", 0, || Box::pin(async { Ok(None) })).await.unwrap();
    assert_eq!(cache.get("#a", 3_999), Some(None));
    let failed =
        cache.get_or_load("#b", 0, || Box::pin(async { Err(Failure::new("read", "broken")) }));
    assert!(failed.await.is_err());
    assert_eq!(cache.get("#b", 0), None);
    cache.get_or_load("#b", 1, finds("x")).await.unwrap();
    assert_eq!(to(cache.get("#b", 1)).as_deref(), Some("x"));
}

#[tokio::test]
async fn requests_that_miss_together_wait_for_one_read() {
    let cache = RouteCache::default();
    let (loads, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(tokio::sync::Notify::new()));
    let read = |now_ms| {
        let (loads, done) = (Arc::clone(&loads), Arc::clone(&done));
        cache.get_or_load("#a", now_ms, move || {
            Box::pin(async move {
                loads.fetch_add(1, Ordering::Relaxed);
                done.notified().await;
                Ok(Some(route("x")))
            })
        })
    };
    let pending = futures::future::join_all((0..100).map(read));
    let (found, ()) = tokio::join!(pending, async {
        tokio::task::yield_now().await;
        done.notify_waiters();
    });
    assert!(found.iter().all(|found| found.as_ref().unwrap().is_some()));
    assert_eq!(loads.load(Ordering::Relaxed), 1);
    assert_eq!(to(cache.get("#a", 3_999)).as_deref(), Some("x"));
    assert_eq!(cache.get("#a", 4_000), None, "it counts from the start of the read");
}

#[tokio::test]
async fn a_read_that_takes_too_long_is_not_joined() {
    let cache = RouteCache::default();
    let stuck = cache.get_or_load("#a", 0, || Box::pin(std::future::pending()));
    futures::pin_mut!(stuck);
    assert!(futures::poll!(stuck.as_mut()).is_pending());
    let found = cache.get_or_load("#a", TTL_MS, finds("new")).await.unwrap();
    assert_eq!(to(Some(found)).as_deref(), Some("new"));
}

#[tokio::test]
async fn memory_is_bounded_and_the_oldest_goes_first() {
    let cache = RouteCache::default();
    for n in 0..=MAX_ROUTES {
        cache.get_or_load(&format!("#{n}"), 0, finds("x")).await.unwrap();
    }
    let kept = |cache: &RouteCache| {
        let inner = cache.0.lock();
        (inner.entries.len(), inner.order.len(), inner.loads.len())
    };
    assert_eq!(kept(&cache), (MAX_ROUTES, MAX_ROUTES, 0));
    assert_eq!(cache.get("#0", 0), None);
    assert!(cache.get("#1", 0).is_some());
    cache.get_or_load("#new", TTL_MS, finds("x")).await.unwrap();
    assert_eq!(kept(&cache), (1, 1, 0), "what is no longer good is forgotten");
}

#[tokio::test]
async fn reading_a_key_again_does_not_lose_it_with_its_older_self() {
    let cache = RouteCache::default();
    cache.get_or_load("#a", 0, finds("old")).await.unwrap();
    cache.get_or_load("#a", 1, finds("new")).await.unwrap();
    cache.get_or_load("#b", TTL_MS, finds("x")).await.unwrap();
    assert_eq!(to(cache.get("#a", TTL_MS)).as_deref(), Some("new"));
}
