//! The list is asked as Google documents it, and believed only when it answers.

use std::sync::{Arc, Mutex};

use super::{Reputation, Verdict};
use crate::Fetcher;
use crate::fetch::{Forbidden, NotFetched};
use crate::testing::{Stage, answering, moved, ok, soon};

const KEY: &str = "a-key-nobody-should-see";

fn web_risk(endpoint: impl Into<String>) -> Reputation {
    Reputation::WebRisk { endpoint: endpoint.into(), key: KEY.to_owned() }
}

async fn verdict(answer: Vec<u8>) -> Result<Verdict, NotFetched> {
    let server = answering(move |_| answer.clone()).await;
    let fetcher = Stage::default().fetcher();
    soon(web_risk(format!("http://{server}")).check(&fetcher, "http://example.org/")).await
}

#[tokio::test]
async fn an_answer_is_read() {
    let listed = |threat: &str| Ok(Verdict::Listed(threat.to_owned()));
    for (body, expected) in [
        ("{}", Ok(Verdict::Clean)),
        (r#"{"threat": null}"#, Ok(Verdict::Clean)),
        (
            r#"{"threat":{"threatTypes":["MALWARE"],"expireTime":"2030-01-01T00:00:00Z"}}"#,
            listed("MALWARE"),
        ),
        (
            r#"{"threat":{"threatTypes":["SOCIAL_ENGINEERING","MALWARE"]}}"#,
            listed("SOCIAL_ENGINEERING"),
        ),
        (r#"{"threat":{}}"#, listed("THREAT_TYPE_UNSPECIFIED")),
        ("", Err(NotFetched::NotHttp)),
        ("<html>", Err(NotFetched::NotHttp)),
        ("[]", Err(NotFetched::NotHttp)),
    ] {
        assert_eq!(verdict(ok("application/json", body)).await, expected, "{body}");
    }
}

#[tokio::test]
async fn trouble_is_not_a_clean_bill() {
    for (status, expected) in [(400, 400), (403, 403), (429, 429), (500, 500)] {
        let answer = format!("HTTP/1.1 {status} No\r\ncontent-length: 2\r\n\r\n{{}}").into_bytes();
        assert_eq!(verdict(answer).await, Err(NotFetched::Status(expected)));
    }
    assert_eq!(verdict(moved("/elsewhere")).await, Err(NotFetched::Status(302)));
    assert_eq!(verdict(b"nonsense".to_vec()).await, Err(NotFetched::NotHttp));
}

#[tokio::test]
async fn the_question_is_the_documented_one() {
    let heads = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&heads);
    let server = answering(move |head| {
        head.clone_into(&mut seen.lock().unwrap());
        ok("application/json", "{}")
    })
    .await;
    let fetcher = Stage::default().fetcher();
    // With and without a slash at its end, the endpoint is the same.
    for endpoint in [format!("http://{server}"), format!("http://{server}/")] {
        let url = "https://example.org/?a=b&key=other#part";
        assert_eq!(soon(web_risk(endpoint).check(&fetcher, url)).await, Ok(Verdict::Clean));
        let expected = format!(
            "GET /v1/uris:search?threatTypes=MALWARE&threatTypes=SOCIAL_ENGINEERING\
             &threatTypes=UNWANTED_SOFTWARE&uri=https%3A%2F%2Fexample.org%2F%3Fa%3Db%26key%3Dother\
             %23part&key={KEY} HTTP/1.1"
        );
        assert_eq!(heads.lock().unwrap().lines().next(), Some(expected.as_str()));
    }
}

#[tokio::test]
async fn off_asks_nobody() {
    let stage = Stage::default();
    let verdict = Reputation::Off.check(&stage.fetcher(), "http://example.org/").await;
    assert_eq!(verdict, Ok(Verdict::Clean));
    assert!(stage.asked().is_empty() && stage.dialled().is_empty());
}

#[tokio::test]
async fn the_key_shows_nowhere() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let fetcher: Fetcher = Stage::default().fetcher();
    for (endpoint, expected) in [
        (format!("http://{closed}"), NotFetched::Unreachable),
        ("https://unheard-of.test".to_owned(), NotFetched::Unresolved),
        ("no endpoint".to_owned(), NotFetched::Forbidden(Forbidden::NotAUrl)),
        ("ftp://example.org".to_owned(), NotFetched::Forbidden(Forbidden::Scheme)),
    ] {
        let reputation = web_risk(endpoint);
        let error = soon(reputation.check(&fetcher, "http://example.org/")).await.unwrap_err();
        assert_eq!(error, expected);
        let shown = format!("{reputation:?} {reputation:#?} {error} {error:?} {fetcher:?}");
        assert!(!shown.contains(KEY), "{shown}");
    }
}
