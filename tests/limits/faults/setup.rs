//! The rules that hold from the beginning to the end of a run.

use domain::Timestamp;
use domain::limits::rule::{OnFailure, RuleMode};
use domain::limits::{Algorithm, Dimension, Quota, Rule};
use serde_json::json;
use store::Limits;
use store::limits::{DocumentPart, LimitsDocument};
use tests::{Lab, Setup};

use super::MINUTE;

/// A cloud whose nodes are as impatient as deployed ones: no time passes here but what faults take.
pub(in crate::limits) fn lab(setup: Setup) -> Lab {
    Lab::with_parameters(setup, &[("LimitsDeadlineMs", "50")])
}

/// Puts the rules for these paths into the store, and exempts the admin, whose own requests would be
/// counted too.
pub(in crate::limits) async fn decide(lab: &Lab, paths: &[&str]) {
    let table = Limits::new(lab.aws().dynamodb(), lab.table("LimitsTable"));
    let document = |id: String, body: String| LimitsDocument {
        id,
        version: 1,
        body,
        changed_by: "root".to_owned(),
        changed_at: Timestamp::UNIX_EPOCH,
        expires_at: None,
    };
    let settings = json!({
        "exempt": [{ "dimension": "user", "entity": "root" }],
        "autoBlock": { "denials": 3, "withinSeconds": 60, "blockSeconds": 120 },
    });
    let mut documents = vec![document("settings".to_owned(), settings.to_string())];
    for rule in rules().into_iter().filter(|rule| paths.contains(&rule.resources[0].as_str())) {
        let body = serde_json::to_string(&rule).unwrap();
        documents.push(document(format!("rule/{}", rule.id), body));
    }
    for document in documents {
        table.save(DocumentPart::Rules, &document, &document.id).await.unwrap();
    }
}

pub(in crate::limits) fn rules() -> Vec<Rule> {
    use Algorithm::{FixedWindow, SlidingLog, SlidingWindow, TokenBucket};
    let rule = |id: &str, path: &str, dimension, algorithm, limit| Rule {
        resources: vec![path.to_owned()],
        ..Rule::new(id, dimension, Quota::new(algorithm, limit, MINUTE))
    };
    let burst = |rule: Rule, burst| Rule {
        quota: Quota { burst: Some(burst), ..rule.quota },
        on_failure: OnFailure::Closed,
        ..rule
    };
    vec![
        rule("pair-user", "/t/pair", Dimension::User, SlidingWindow, 6),
        rule("pair-tenant", "/t/pair", Dimension::Tenant, FixedWindow, 8),
        burst(rule("mixed-user", "/t/mixed", Dimension::User, TokenBucket, 60), 90),
        rule("mixed-all", "/t/mixed", Dimension::Global, FixedWindow, 150),
        rule("leased", "/t/leased", Dimension::User, SlidingWindow, 160),
        Rule {
            mode: RuleMode::Shadow,
            ..rule("shadow", "/t/leased", Dimension::Tenant, FixedWindow, 1)
        },
        burst(rule("bucket", "/t/bucket", Dimension::User, TokenBucket, 240), 120),
        rule("log", "/t/log", Dimension::Ip, SlidingLog, 4),
        rule("visits", "/api/v1/canary", Dimension::Ip, FixedWindow, 4),
    ]
}
