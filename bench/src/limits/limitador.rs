//! Limitador's library with its counters in memory: the path and the caller are values in a context,
//! a limit's condition is an expression about them.

use std::collections::HashMap;
use std::hint::black_box;

use limitador::RateLimiter;
use limitador::limit::{Context, Limit, Namespace};

use crate::Result;

const DAY_SECONDS: u64 = 86_400;

/// Which namespace a resource's limits are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Namespaces {
    /// All in one, which is gone through from end to end.
    One,
    /// Each resource in its own, so that none is gone through for another.
    Many,
}

/// `limits` limits, `each` of them for every resource.
pub(crate) fn contestant(
    limits: usize,
    each: usize,
    keys: usize,
    namespaces: Namespaces,
) -> Result<impl FnMut(usize)> {
    let (limiter, resources) = limiter(limits, each, namespaces)?;
    let users: Vec<String> = (0..keys).map(|key| format!("user-{key:012}")).collect();
    Ok(move |request: usize| {
        let key = request % users.len();
        let path = &resources[key.wrapping_mul(7_919) % resources.len()];
        let (namespace, context) = (namespace(path, namespaces), context(path, &users[key]));
        let _ = black_box(limiter.check_rate_limited_and_update(&namespace, &context, 1));
    })
}

/// One limit and one caller, whose context is there already.
pub(crate) fn with_context() -> Result<impl FnMut(usize)> {
    let (limiter, resources) = limiter(1, 1, Namespaces::One)?;
    let path = resources.first().ok_or("no resource")?;
    let (namespace, context) = (namespace(path, Namespaces::One), context(path, "user-0"));
    Ok(move |_| {
        let _ = black_box(limiter.check_rate_limited_and_update(&namespace, &context, 1));
    })
}

fn limiter(
    limits: usize,
    each: usize,
    namespaces: Namespaces,
) -> Result<(RateLimiter, Vec<String>)> {
    let limiter = RateLimiter::new(1_000_000);
    let resources: Vec<String> =
        (0..(limits / each).max(1)).map(|number| format!("/api/v1/r{number}")).collect();
    for path in &resources {
        for variable in ["user", "key", "ip", "tenant", "method"].into_iter().take(each) {
            let condition = format!("path == '{path}'").as_str().try_into()?;
            let of = namespace(path, namespaces);
            let variable = variable.try_into()?;
            limiter.add_limit(Limit::new(of, 1_000_000_000, DAY_SECONDS, [condition], [variable]));
        }
    }
    Ok((limiter, resources))
}

fn namespace(path: &str, namespaces: Namespaces) -> Namespace {
    match namespaces {
        Namespaces::One => "api".into(),
        Namespaces::Many => path.into(),
    }
}

fn context<'a>(path: &str, user: &str) -> Context<'a> {
    let values = [("path", path), ("method", "POST"), ("user", user), ("key", user), ("ip", user)];
    let values = values.into_iter().chain([("tenant", user)]);
    let owned = values.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Context::from(owned.collect::<HashMap<_, _>>())
}
