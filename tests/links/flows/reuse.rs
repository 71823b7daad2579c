//! The same user and destination again: the same link, as long as it serves.

use serde_json::{Value, json};
use tests::Lab;

use super::{SHORTEN, assert_names, code, delete, patch, plain, post, redirect_of, wait_out_cache};

#[tokio::test(start_paused = true)]
async fn the_same_again_is_the_same_link_for_its_owner_alone() {
    let lab = Lab::new();
    let (ada, eve) = (lab.user("ada", &["member"]).await, lab.user("eve", &["member"]).await);
    let body = plain("https://example.org/page");
    let first = code(&lab, &ada, &body).await;
    let alike = json!({ "longUrl": "https://EXAMPLE.org:443/page", "tags": ["x"], "note": "n" });
    for again in [&body, &alike] {
        let had = post(&lab, SHORTEN, &ada, again).await;
        assert_eq!((had.status.as_u16(), had.text("shortCode")), (200, first.as_str()));
        assert!(had.body.get("tags").is_none(), "what is there stays as it is");
    }
    let other = [
        json!({ "longUrl": "https://example.org/page", "redirect": 301 }),
        json!({ "longUrl": "https://example.org/page", "forwardQuery": true }),
        json!({ "longUrl": "https://example.org/page", "utm": { "source": "x" } }),
        json!({ "longUrl": "https://example.org/page", "maxClicks": 1 }),
        json!({ "longUrl": "https://example.org/page", "expiresAt": "2027-01-01T00:00:00Z" }),
        json!({ "longUrl": "https://example.org/page", "reuse": false }),
        json!({ "longUrl": "https://example.org/page", "customAlias": "another" }),
    ];
    for body in &other {
        assert_ne!(code(&lab, &ada, body).await, first, "{body}");
    }
    assert_ne!(code(&lab, &eve, &body).await, first);
    let anonymous = [code(&lab, "", &body).await, code(&lab, "", &body).await];
    assert_ne!(anonymous[0], anonymous[1], "anonymous links have no owner");
    assert_eq!(post(&lab, SHORTEN, &ada, &body).await.text("shortCode"), first);
}

#[tokio::test(start_paused = true)]
async fn after_an_edit_a_deletion_a_block_or_its_end_the_same_again_is_a_new_link() {
    let (lab, ada) = Lab::with_member().await;
    let body = json!({ "longUrl": "https://example.org/", "expiresAt": "2026-03-01T13:00:00Z" });
    let mut seen = Vec::new();
    for step in 0..4 {
        let made = code(&lab, &ada, &body).await;
        assert!(!seen.contains(&made), "{made}");
        let had = post(&lab, SHORTEN, &ada, &body).await;
        assert_eq!((had.status.as_u16(), had.text("shortCode")), (200, made.as_str()));
        let one = format!("/api/v1/url/{made}");
        match step {
            0 => {
                let edit = plain("https://example.org/else");
                assert_eq!(patch(&lab, &one, &ada, 1, &edit).await.status, 200);
            }
            1 => assert_eq!(delete(&lab, &one, &ada).await.status, 204),
            2 => {
                let reason = json!({ "reason": "x" });
                let path = format!("{one}/block");
                assert_eq!(post(&lab, &path, &tests::root_key(), &reason).await.status, 200);
            }
            _ => {}
        }
        seen.push(made);
    }
    let lasting = plain("https://example.org/lasting");
    let with_end = json!({ "longUrl": "https://example.org/lasting", "expiresAt": null });
    let first = code(&lab, &ada, &lasting).await;
    assert_eq!(post(&lab, SHORTEN, &ada, &with_end).await.text("shortCode"), first);
    lab.advance_seconds(3600);
    wait_out_cache(&lab);
    assert_eq!(redirect_of(&lab, &seen[3]).await.0, 410);
    let late = post(&lab, SHORTEN, &ada, &body).await;
    assert_names(&late, "expiresAt", &Value::Null);
}
