//! The list is asked as Google documents it, and believed only when it answers.

use std::sync::{Arc, Mutex};

use super::{Reputation, ReputationVerdict};
use crate::Fetcher;
use crate::fetch::{FetchError, ForbiddenUrl};
use crate::testing::{FakeNetwork, http_server, in_time, ok, redirect_to};

const KEY: &str = "a-key-that-is-never-shown";

fn web_risk(endpoint: impl Into<String>) -> Reputation {
    Reputation::WebRisk { endpoint: endpoint.into(), key: KEY.to_owned() }
}

async fn verdict(answer: Vec<u8>) -> Result<ReputationVerdict, FetchError> {
    let server = http_server(move |_| answer.clone()).await;
    let fetcher = FakeNetwork::default().fetcher();
    in_time(web_risk(format!("http://{server}")).check(&fetcher, "http://example.org/")).await
}

#[tokio::test]
async fn an_answer_is_read() {
    let listed = |threat: &str| Ok(ReputationVerdict::Listed(threat.to_owned()));
    for (body, expected) in [
        ("{}", Ok(ReputationVerdict::Clean)),
        (r#"{"threat": null}"#, Ok(ReputationVerdict::Clean)),
        (
            r#"{"threat":{"threatTypes":["MALWARE"],"expireTime":"2030-01-01T00:00:00Z"}}"#,
            listed("MALWARE"),
        ),
        (
            r#"{"threat":{"threatTypes":["SOCIAL_ENGINEERING","MALWARE"]}}"#,
            listed("SOCIAL_ENGINEERING"),
        ),
        (r#"{"threat":{}}"#, listed("THREAT_TYPE_UNSPECIFIED")),
        ("", Err(FetchError::InvalidHttp)),
        ("<html>", Err(FetchError::InvalidHttp)),
        ("[]", Err(FetchError::InvalidHttp)),
    ] {
        assert_eq!(verdict(ok("application/json", body)).await, expected, "{body}");
    }
}

#[tokio::test]
async fn trouble_is_not_a_clean_bill() {
    for (status, expected) in [(400, 400), (403, 403), (429, 429), (500, 500)] {
        let answer = format!("HTTP/1.1 {status} No\r\ncontent-length: 2\r\n\r\n{{}}").into_bytes();
        assert_eq!(verdict(answer).await, Err(FetchError::Status(expected)));
    }
    assert_eq!(verdict(redirect_to("/elsewhere")).await, Err(FetchError::Status(302)));
    assert_eq!(verdict(b"nonsense".to_vec()).await, Err(FetchError::InvalidHttp));
}

#[tokio::test]
async fn the_question_is_the_documented_one() {
    let heads = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&heads);
    let server = http_server(move |head| {
        head.clone_into(&mut seen.lock().unwrap());
        ok("application/json", "{}")
    })
    .await;
    let fetcher = FakeNetwork::default().fetcher();
    // With and without a slash at its end, the endpoint is the same.
    for endpoint in [format!("http://{server}"), format!("http://{server}/")] {
        let url = "https://example.org/?a=b&key=other#part";
        assert_eq!(
            in_time(web_risk(endpoint).check(&fetcher, url)).await,
            Ok(ReputationVerdict::Clean)
        );
        let expected = format!(
            "GET /v1/uris:search?threatTypes=MALWARE&threatTypes=SOCIAL_ENGINEERING\
             &threatTypes=UNWANTED_SOFTWARE&uri=https%3A%2F%2Fexample.org%2F%3Fa%3Db%26key%3Dother\
             %23part&key={KEY} HTTP/1.1"
        );
        assert_eq!(heads.lock().unwrap().lines().next(), Some(expected.as_str()));
    }
}

#[tokio::test]
async fn off_sends_no_request() {
    let fake = FakeNetwork::default();
    let verdict = Reputation::Off.check(&fake.fetcher(), "http://example.org/").await;
    assert_eq!(verdict, Ok(ReputationVerdict::Clean));
    assert!(fake.resolved().is_empty() && fake.connected().is_empty());
}

#[tokio::test]
async fn the_key_shows_nowhere() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let fetcher: Fetcher = FakeNetwork::default().fetcher();
    for (endpoint, expected) in [
        (format!("http://{closed}"), FetchError::Unreachable),
        ("https://unheard-of.test".to_owned(), FetchError::Unresolved),
        ("no endpoint".to_owned(), FetchError::Forbidden(ForbiddenUrl::NotAUrl)),
        ("ftp://example.org".to_owned(), FetchError::Forbidden(ForbiddenUrl::Scheme)),
    ] {
        let reputation = web_risk(endpoint);
        let error = in_time(reputation.check(&fetcher, "http://example.org/")).await.unwrap_err();
        assert_eq!(error, expected);
        let shown = format!("{reputation:?} {reputation:#?} {error} {error:?} {fetcher:?}");
        assert!(!shown.contains(KEY), "{shown}");
    }
}
