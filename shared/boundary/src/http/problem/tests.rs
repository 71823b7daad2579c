//! Problems, as callers see them.

use super::*;

#[test]
fn a_failure_tells_the_log_everything_and_the_caller_nothing() {
    let failure = Failure::new("read the account", "table accounts-7 does not exist");
    let problem = Problem::from(failure);
    assert!(problem.fault().unwrap().contains("accounts-7"));
    let response = problem.answer("/x");
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert!(!response.body().contains("accounts-7"));
}

#[test]
fn kinds_have_distinct_names() {
    let mut slugs: Vec<_> = KINDS.iter().map(|kind| kind.slug).collect();
    slugs.sort_unstable();
    slugs.dedup();
    assert_eq!(slugs.len(), KINDS.len());
}
