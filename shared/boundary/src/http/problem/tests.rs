//! Problems, as callers see them.

use super::*;

#[test]
fn a_failure_is_in_the_log_and_not_in_the_response() {
    let failure = Failure::new("read the account", "table accounts-7 does not exist");
    let problem = Problem::from(failure);
    assert!(problem.fault().unwrap().contains("accounts-7"));
    let response = problem.render("/x");
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert!(!response.body().contains("accounts-7"));
}

#[test]
fn kinds_have_distinct_names() {
    let mut slugs: Vec<_> = PROBLEM_TYPES.iter().map(|kind| kind.slug).collect();
    slugs.sort_unstable();
    slugs.dedup();
    assert_eq!(slugs.len(), PROBLEM_TYPES.len());
}
