//! The rules that a fresh deployment starts with: ordinary rules, to be changed like any other.

use super::quota::{Algorithm, Quota};
use super::rule::{Dimension, OnFailure, Rule};
use super::rules::RuleSet;

const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;
const MINUTE: i64 = 60;

impl RuleSet {
    pub fn defaults() -> Vec<Rule> {
        Self::defaults_by_system().into_iter().flat_map(|(_, rules)| rules).collect()
    }

    /// The same, by the system whose paths they are for. Those for the paths of all come last,
    /// under no name.
    pub fn defaults_by_system() -> [(&'static str, Vec<Rule>); 7] {
        [
            ("links", links().into_iter().chain(reports()).collect()),
            ("feed", feed()),
            ("notifications", notifications()),
            ("jobs", jobs()),
            ("ids", ids()),
            ("accounts", accounts()),
            ("", everything()),
        ]
    }

    /// The system whose paths a rule of a fresh deployment is for, if it is for those of one.
    pub fn system_of(id: &str) -> Option<&'static str> {
        let by_system = Self::defaults_by_system();
        let mut named = by_system.into_iter().filter(|(system, _)| !system.is_empty());
        let (system, _) = named.find(|(_, rules)| rules.iter().any(|rule| rule.id == id))?;
        Some(system)
    }
}

fn links() -> Vec<Rule> {
    let anonymous = |rule: Rule| Rule {
        on_failure: OnFailure::Closed,
        ..rule.anonymous().for_paths(&["POST"], &["/api/v1/shorten"])
    };
    let all = ["/api/v1/shorten", "/api/v1/bulk/shorten", "/api/v1/import"];
    vec![
        anonymous(rule("anonymous-links-hour", 100, HOUR, "Links an hour without an account.")),
        anonymous(rule("anonymous-links-day", 100, DAY, "Links a day without an account.")),
        rule("links-hour", 10_000, HOUR, "Requests an hour that make links.")
            .for_paths(&["POST"], &all),
    ]
}

fn reports() -> Vec<Rule> {
    let path = ["/api/v1/url/{code}/report"];
    let anonymous = "Reports of links an hour without an account.";
    vec![
        rule("reports-hour", 20, HOUR, anonymous).anonymous().for_paths(&["POST"], &path),
        rule("user-reports-hour", 20, HOUR, "Reports of links an hour.")
            .for_paths(&["POST"], &path),
    ]
}

fn feed() -> Vec<Rule> {
    vec![
        rule("posts-day", 1_000, DAY, "Posts a day.").for_paths(&["POST"], &["/api/v1/posts"]),
        rule("feed-hour", 10_000, HOUR, "Feed reads an hour.")
            .for_paths(&["GET"], &["/api/v1/feed"]),
    ]
}

fn notifications() -> Vec<Rule> {
    let sent = rule("notifications-minute", 1_000, MINUTE, "Notifications a minute.");
    let by_key = Rule { dimension: Dimension::ApiKey, ..sent };
    vec![by_key.for_paths(&["POST"], &["/api/v1/notifications"])]
}

fn jobs() -> Vec<Rule> {
    let paths =
        ["/api/v1/jobs", "/api/v1/jobs/{*rest}", "/api/v1/job-types", "/api/v1/job-types/{*rest}"];
    // A thousand workers that speak every 20 seconds are 3,000 of them.
    vec![
        rule("jobs-minute", 60_000, MINUTE, "Requests a minute about jobs.").for_paths(&[], &paths),
    ]
}

fn ids() -> Vec<Rule> {
    let paths = ["/api/v1/ids", "/api/v1/ids/{id}"];
    vec![rule("ids-minute", 6_000, MINUTE, "Requests a minute for ids.").for_paths(&[], &paths)]
}

fn accounts() -> Vec<Rule> {
    let paths = ["/api/v1/me", "/api/v1/accounts", "/api/v1/accounts/{*rest}"];
    vec![
        rule("accounts-minute", 600, MINUTE, "Requests a minute about accounts.")
            .for_paths(&[], &paths),
    ]
}

/// Short links are not in it: a write for each new visitor would cost more than all the rest of a
/// redirect.
fn everything() -> Vec<Rule> {
    let anonymous = "Requests a minute without an account, where nothing else is said.";
    let paths = [
        "/api/{*rest}",
        "/admin/{*rest}",
        "/internal/{*rest}",
        "/qr/{file}",
        "/docs",
        "/openapi.json",
    ];
    vec![
        rule("user-minute", 6_000, MINUTE, "Requests a minute, where nothing else is said."),
        rule("address-minute", 1_200, MINUTE, anonymous).anonymous().for_paths(&[], &paths),
    ]
}

fn rule(id: &str, limit: i64, seconds: i64, description: &str) -> Rule {
    Rule {
        description: description.to_owned(),
        ..Rule::new(
            id,
            Dimension::User,
            Quota::new(Algorithm::SlidingWindow, limit, seconds * 1_000),
        )
    }
}

impl Rule {
    fn anonymous(self) -> Self {
        Self { dimension: Dimension::Ip, anonymous_only: true, ..self }
    }

    /// For these paths, with these methods, or with all if there are none.
    fn for_paths(self, methods: &[&str], paths: &[&str]) -> Self {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        Self { methods: owned(methods), resources: owned(paths), ..self }
    }
}
