//! Events in, answers out, and what a panic becomes.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::http::Problem;
use crate::{Aws, Vars};

pub(crate) fn host(lines: Arc<Mutex<Vec<String>>>) -> Host {
    let vars: Vars = [
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_REGION", "us-east-1"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect();
    Host {
        aws: Aws::from_vars(&vars).unwrap(),
        vars,
        clock: Clock::new(|| domain::Timestamp::UNIX_EPOCH),
        entropy: Entropy::new(|bytes| bytes.fill(7)),
        log: Log::new(move |line| lines.lock().unwrap().push(line.to_owned())),
        network: egress::Network::system(),
        providers: None,
    }
}

fn edge(lines: &Arc<Mutex<Vec<String>>>) -> Edge<AtomicUsize> {
    fn handler(_: &AtomicUsize, HttpEvent { raw_path, .. }: HttpEvent) -> EdgeReply<'_> {
        match raw_path.as_str() {
            "/now" => EdgeReply::Ready(EdgeResponse::new(204)),
            "/later" => EdgeReply::Pending(Box::pin(async { EdgeResponse::new(200) })),
            "/panic" => panic!("at once"),
            _ => EdgeReply::Pending(Box::pin(async { panic!("later") })),
        }
    }
    Edge::new(&host(Arc::clone(lines)), "sample", AtomicUsize::new(0), handler, |state, moment| {
        Box::pin(async move {
            assert!(moment != Phase::Shutdown, "the end");
            state.fetch_add(1, Ordering::Relaxed);
        })
    })
}

async fn status(edge: &Edge<AtomicUsize>, path: &str) -> Value {
    let event = json!({ "rawPath": path }).to_string();
    let answer = edge.invoke(event.as_bytes(), Invocation::default()).await.unwrap();
    serde_json::from_slice::<Value>(&answer).unwrap()["statusCode"].clone()
}

#[tokio::test]
async fn a_panic_is_a_fault_and_a_line_and_leaves_the_function_whole() {
    let lines = Arc::default();
    let edge = edge(&lines);
    for (path, expected) in [("/panic", 500), ("/other", 500), ("/now", 204), ("/later", 200)] {
        assert_eq!(status(&edge, path).await, expected, "{path}");
    }
    edge.after_response().await;
    edge.shutdown().await;
    assert_eq!(edge.shared.state.load(Ordering::Relaxed), 1);
    assert_eq!(lines.lock().unwrap().len(), 3, "two requests and a shutdown panicked");
    assert!(edge.invoke(b"{", Invocation::default()).await.is_err());
}

#[test]
fn an_event_is_read_for_what_matters_and_no_more() {
    let event: HttpEvent = serde_json::from_value(json!({
        "version": "2.0", "routeKey": "ANY /{code}", "rawPath": "/abc", "rawQueryString": "a=1",
        "cookies": ["a=1"], "headers": { "host": "x.org", "user-agent": "u", "x-other": "1" },
        "requestContext": { "apiId": "x", "http": { "method": "GET", "sourceIp": "192.0.2.1" } },
        "isBase64Encoded": false,
    }))
    .unwrap();
    assert_eq!((event.method(), event.source_ip()), ("GET", "192.0.2.1"));
    assert_eq!((event.raw_path.as_str(), event.raw_query_string.as_str()), ("/abc", "a=1"));
    assert_eq!(event.headers.host.as_deref(), Some("x.org"));
    assert_eq!(event.headers.user_agent.as_deref(), Some("u"));
    assert_eq!(serde_json::from_str::<HttpEvent>("{}").unwrap(), HttpEvent::default());
}

#[test]
fn a_problem_is_the_one_that_every_function_answers_with() {
    let answer = EdgeResponse::problem(Problem::unknown("link"), "/abc");
    assert_eq!(answer.status(), 404);
    assert_eq!(answer.get_header("content-type"), Some("application/problem+json"));
    assert_eq!(answer.get_header("cache-control"), Some("no-store"));
    assert_eq!(serde_json::from_str::<Value>(answer.text()).unwrap()["instance"], "/abc");
}

proptest! {
    #[test]
    fn no_control_character_reaches_a_header(text in any::<String>()) {
        let answer = EdgeResponse::new(302).header("x-any", text.clone()).location(text);
        for name in ["x-any", "location"] {
            let value = answer.get_header(name).unwrap_or_default();
            prop_assert!(value.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{value:?}");
        }
        prop_assert!(answer.get_header("location").is_some());
    }
}
