//! Accounts: create, list, read, amend, disable, audit.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

const ALL: &str = "/api/v1/accounts";

#[tokio::test(start_paused = true)]
async fn an_account_lives_from_creation_to_disabling() {
    let lab = Lab::new();
    let body =
        json!({ "userId": "ada", "name": "Ada", "email": "ada@example.org", "roles": ["member"] });
    let created = lab.post(ALL, &body).await.assert_status(201);
    assert_eq!(created.header("location"), "/api/v1/accounts/ada");
    let read = lab.get("/api/v1/accounts/ada").await;
    assert_eq!(read.body, created.body);
    assert_eq!(read.header("etag"), "\"1\"");

    lab.advance_seconds(1);
    let amended = lab
        .call(Method::PATCH, "/api/v1/accounts/ada")
        .by(&root_key())
        .header("if-match", "\"1\"")
        .json(&json!({ "name": "Ada L.", "email": null, "roles": ["member", "notifier"] }))
        .send()
        .await;
    assert_eq!((amended.status.as_u16(), amended.text("name")), (200, "Ada L."));
    assert_eq!(amended.header("etag"), "\"2\"");
    assert!(amended.body.get("email").is_none());

    lab.advance_seconds(1);
    let disabled = lab.call(Method::DELETE, "/api/v1/accounts/ada").by(&root_key()).send().await;
    assert_eq!(disabled.status, 204);
    assert_eq!(lab.get("/api/v1/accounts/ada").await.text("state"), "disabled");
    let again = lab.call(Method::DELETE, "/api/v1/accounts/ada").by(&root_key()).send().await;
    assert_eq!(again.status, 204);

    let trail = lab.get("/api/v1/accounts/ada/audit").await;
    let changes: Vec<_> = trail.body["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["change"].as_str().unwrap(), item["by"].as_str().unwrap()))
        .collect();
    assert_eq!(
        changes,
        [("AccountDisabled", "root"), ("AccountAmended", "root"), ("AccountCreated", "root")]
    );
}

#[tokio::test(start_paused = true)]
async fn wrong_input_names_the_field_and_creates_nothing() {
    let lab = Lab::new();
    for (body, status, field) in [
        (json!({ "name": "" }), 422, "name"),
        (json!({ "name": "x".repeat(101) }), 422, "name"),
        (json!({ "name": "a\nb" }), 422, "name"),
        (json!({}), 422, "name"),
        (json!({ "name": "x", "userId": "UPPER" }), 422, "userId"),
        (json!({ "name": "x", "userId": "root" }), 422, "userId"),
        (json!({ "name": "x", "email": "nope" }), 422, "email"),
        (json!({ "name": "x", "roles": ["king"] }), 422, "roles[0]"),
        (json!({ "name": "x", "roles": "admin" }), 422, "roles"),
        (json!({ "name": "x", "tenant": "" }), 422, "tenant"),
        (json!({ "name": "x", "isAdmin": true }), 422, "isAdmin"),
        (json!({ "name": 7 }), 422, "name"),
    ] {
        let answer = lab.post(ALL, &body).await;
        assert_eq!(answer.status, status, "{body}");
        assert_eq!(answer.body["errors"][0]["field"], field, "{body}: {}", answer.body);
    }
    let malformed = lab.call(Method::POST, ALL).by(&root_key()).bytes("{\"name\":").send().await;
    assert_eq!(
        (malformed.status.as_u16(), malformed.text("type")),
        (400, "/docs#malformed-request")
    );
    assert_eq!(lab.get(ALL).await.body["items"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_taken_user_id_is_a_conflict_and_the_first_account_stays() {
    let lab = Lab::new();
    lab.post(ALL, &json!({ "userId": "ada", "name": "First" })).await;
    let second = lab.post(ALL, &json!({ "userId": "ada", "name": "Second" })).await;
    assert_eq!((second.status.as_u16(), second.text("type")), (409, "/docs#conflict"));
    assert_eq!(lab.get("/api/v1/accounts/ada").await.text("name"), "First");
}

#[tokio::test(start_paused = true)]
async fn a_repeated_request_gets_the_first_answer() {
    let lab = Lab::new();
    let body = json!({ "name": "Ada" });
    let send = |key: &'static str, body: serde_json::Value| {
        let call = lab.call(Method::POST, ALL).by(&root_key()).header("idempotency-key", key);
        call.json(&body).send()
    };
    let first = send("k1", body.clone()).await;
    let again = send("k1", body.clone()).await;
    assert_eq!((again.status.as_u16(), &again.body), (201, &first.body));
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(again.header("location"), first.header("location"));
    let other_body = send("k1", json!({ "name": "Bob" })).await;
    assert_eq!(
        (other_body.status.as_u16(), other_body.text("type")),
        (422, "/docs#idempotency-key-reused")
    );
    assert_ne!(send("k2", body.clone()).await.body["userId"], first.body["userId"]);
    assert_eq!(send("bad key", body.clone()).await.status, 422);
    // A refused request gives its key back.
    assert_eq!(send("k3", json!({ "name": "" })).await.status, 422);
    assert_eq!(send("k3", json!({ "name": "Eve" })).await.status, 201);
    // After a day the key is forgotten.
    lab.advance_seconds(24 * 3600 + 1);
    assert_ne!(send("k1", body).await.body["userId"], first.body["userId"]);
}

#[tokio::test(start_paused = true)]
async fn changes_need_the_version_they_were_made_from() {
    let lab = Lab::new();
    lab.post(ALL, &json!({ "userId": "ada", "name": "Ada" })).await;
    let patch = || lab.call(Method::PATCH, "/api/v1/accounts/ada").by(&root_key());
    let body = json!({ "name": "A" });
    assert_eq!(patch().json(&body).send().await.status, 428);
    for stale in ["\"7\"", "\"x\"", "*", "W/\"1\""] {
        assert_eq!(patch().header("if-match", stale).json(&body).send().await.status, 412);
    }
    assert_eq!(patch().header("if-match", "\"1\"").json(&body).send().await.status, 200);
    assert_eq!(patch().header("if-match", "\"1\"").json(&body).send().await.status, 412);
    let unknown = json!({ "state": "asleep" });
    let refused = patch().header("if-match", "\"2\"").json(&unknown).send().await;
    assert_eq!(refused.body["errors"][0]["field"], "state");
}

#[tokio::test(start_paused = true)]
async fn a_reader_with_the_current_version_is_told_nothing_new() {
    let lab = Lab::new();
    lab.post(ALL, &json!({ "userId": "ada", "name": "Ada" })).await;
    let get = |tag: &'static str| {
        lab.call(Method::GET, "/api/v1/accounts/ada")
            .by(&root_key())
            .header("if-none-match", tag)
            .send()
    };
    assert_eq!(get("\"1\"").await.status, 304);
    assert_eq!(get("\"0\", W/\"1\"").await.status, 304);
    assert_eq!(get("\"2\"").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn lists_come_in_pages_without_gaps_or_repeats() {
    let lab = Lab::new();
    for index in 0..7 {
        lab.post(ALL, &json!({ "userId": format!("user-{index}"), "name": "x" })).await;
    }
    let (mut seen, mut path) = (Vec::new(), format!("{ALL}?limit=3"));
    loop {
        let page = lab.get(&path).await;
        let items = page.body["items"].as_array().unwrap().clone();
        seen.extend(items.iter().map(|item| item["userId"].as_str().unwrap().to_owned()));
        match page.body["nextCursor"].as_str() {
            Some(cursor) => path = format!("{ALL}?limit=3&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(seen, (0..7).map(|index| format!("user-{index}")).collect::<Vec<_>>());
    // `MTphY2NvdW50czo` is a cursor without a position in it.
    for wrong in
        ["limit=0", "limit=101", "limit=x", "cursor=zzz", "cursor=MTphY2NvdW50czo", "page=2"]
    {
        assert_eq!(lab.get(&format!("{ALL}?{wrong}")).await.status, 422, "{wrong}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_admin_stays() {
    let lab = Lab::new();
    lab.user("ann", &["admin"]).await;
    let drop_role = |user: &'static str, version: &'static str| {
        lab.call(Method::PATCH, &format!("{ALL}/{user}"))
            .by(&root_key())
            .header("if-match", version)
            .json(&json!({ "roles": [] }))
            .send()
    };
    assert_eq!(drop_role("ann", "\"1\"").await.status, 409);
    let delete = |user: &'static str| {
        lab.call(Method::DELETE, &format!("{ALL}/{user}")).by(&root_key()).send()
    };
    assert_eq!(delete("ann").await.status, 409);
    lab.user("bob", &["admin"]).await;
    assert_eq!(drop_role("ann", "\"1\"").await.status, 200);
    assert_eq!(delete("bob").await.status, 409);
    assert_eq!(delete("ann").await.status, 204);
}

#[tokio::test(start_paused = true)]
async fn users_change_their_own_name_and_nothing_else() {
    let lab = Lab::new();
    let eve = lab.user("eve", &["member"]).await;
    let patch = |body: Value| {
        lab.call(Method::PATCH, "/api/v1/accounts/eve")
            .by(&eve)
            .header("if-match", "\"1\"")
            .json(&body)
            .send()
    };
    for beyond in ["roles", "tenant", "state", "email"] {
        let value = match beyond {
            "roles" => json!(["admin"]),
            "state" => json!("disabled"),
            "email" => json!("eve@example.org"),
            _ => json!("other"),
        };
        let answer = patch(json!({ beyond: value })).await;
        assert_eq!(answer.status, 403, "{beyond}");
    }
    assert_eq!(patch(json!({ "name": "Eve" })).await.status, 200);
    assert_eq!(lab.get("/api/v1/accounts/eve").await.text("name"), "Eve");
}
