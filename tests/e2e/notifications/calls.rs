//! Every call of notifications, without permission, with invalid input, and about unknown ids.

use e2e::target;
use serde_json::{Value, json};

use super::{ALL, mail, notify, user_with_contacts};

const UNKNOWN_ID: &str = "000000000000ffffffffffffffff";

/// What a user without permission is answered.
#[derive(Clone, Copy, PartialEq)]
enum Stranger {
    /// That they may not.
    Forbidden,
    /// That there is no such thing.
    NotFound,
}

/// A call: its method, its path (with `ID` for a notification and `USER` for a person), a body that is
/// wrong, if it takes one, and what strangers get.
fn calls() -> Vec<(&'static str, &'static str, Value, Stranger)> {
    use Stranger::{Forbidden, NotFound};
    let none = Value::Null;
    vec![
        ("POST", ALL, json!({ "userId": "ada", "category": "" }), Forbidden),
        ("GET", "/api/v1/notifications/ID", none.clone(), NotFound),
        ("DELETE", "/api/v1/notifications/ID", none.clone(), Forbidden),
        ("GET", "/api/v1/users/USER/notifications?limit=0", none.clone(), NotFound),
        ("POST", "/api/v1/users/USER/notifications/read", json!({ "until": "soon" }), NotFound),
        ("GET", "/api/v1/users/USER/preferences", none.clone(), NotFound),
        ("PUT", "/api/v1/users/USER/preferences", json!({ "timeZone": "Mars" }), NotFound),
        ("GET", "/api/v1/users/USER/contacts", none.clone(), NotFound),
        ("PUT", "/api/v1/users/USER/contacts", json!({ "email": "nowhere" }), NotFound),
        (
            "PUT",
            "/api/v1/templates/calls",
            json!({ "defaultLocale": "en", "texts": {} }),
            Forbidden,
        ),
        ("GET", "/api/v1/templates/NONE", none.clone(), Forbidden),
        ("POST", "/api/v1/templates/NONE/preview", json!({ "version": "x" }), Forbidden),
        ("POST", "/api/v1/templates/NONE/versions/1/activate", none.clone(), Forbidden),
        ("GET", "/api/v1/dead-letters?class=bad", none, Forbidden),
        ("POST", "/api/v1/dead-letters/replay", json!({ "name": "" }), Forbidden),
    ]
}

#[test]
fn every_call_keeps_strangers_out_and_says_what_is_wrong() {
    let target = target();
    let stranger = target.member();
    let user = user_with_contacts(target);
    let id = notify(target, &mail(&user, &json!({})));
    for (method, path, wrong, kind) in calls() {
        let body = (!wrong.is_null()).then_some(&wrong);
        let own =
            path.replace("ID", &id).replace("USER", &user).replace("NONE", "no-such-template");
        let anonymous = target.send(method, &own, "", &[], body);
        assert_eq!(anonymous.status, 401, "{method} {path}: {}", anonymous.body);
        let other = target.send(method, &own, &stranger, &[], body);
        let refused = if kind == Stranger::Forbidden { 403 } else { 404 };
        assert_eq!(other.status, refused, "{method} {path}: {}", other.body);
        let by_admin = |path: &str, body| target.send(method, path, &target.admin_key, &[], body);
        if body.is_some() || path.contains('?') {
            let refused = by_admin(&own, body);
            assert!([400, 422].contains(&refused.status), "{method} {path}: {}", refused.body);
            assert_eq!(refused.media_type, "application/problem+json", "{method} {path}");
        }
        if path.contains("ID") || path.contains("NONE") {
            let unknown = by_admin(&own.replace(&id, UNKNOWN_ID), None);
            assert_eq!(unknown.status, 404, "{method} {path}: {}", unknown.body);
        }
    }
}

#[test]
fn links_without_a_token_of_ours_lead_nowhere() {
    let target = target();
    for (method, path, status) in [
        ("GET", "/unsubscribe", 403),
        ("POST", "/unsubscribe?token=x", 403),
        ("GET", "/t/o/x", 404),
        ("GET", "/t/c/x", 404),
        ("POST", "/api/v1/providers/unknown/events", 404),
    ] {
        let refused = target.send(method, path, "", &[], None);
        assert_eq!(refused.status, status, "{method} {path}: {}", refused.body);
        assert_eq!(refused.media_type, "application/problem+json", "{method} {path}");
    }
}
