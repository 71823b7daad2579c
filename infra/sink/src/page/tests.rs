//! The page shows everything and runs nothing.

use domain::Timestamp;
use http::{Method, StatusCode};

use super::*;
use crate::http::Response;
use crate::message::ReceivedMessage;
use crate::{Behaviour, Sink, SinkOptions};

const EVIL: &str = "\"><script>alert(1)</script><img src=x onerror=alert(1)>' & co";

fn evil() -> SinkMessage {
    let text = || EVIL.to_owned();
    let received = ReceivedMessage {
        to: text(),
        from: Some(text()),
        title: text(),
        text: text(),
        html: Some(text()),
        headers: vec![(text(), text())],
        source: text(),
    };
    received.with_id(7, Timestamp::UNIX_EPOCH, ProviderKind::Smtp)
}

fn shown(message: SinkMessage, open: Option<(u64, Tab)>) -> String {
    let rule = BehaviourRule {
        behaviour: Behaviour::Fail { code: 550, reason: EVIL.to_owned() },
        times: Some(2),
    };
    let (messages, rules) = ([Arc::new(message)], [(ProviderKind::Smtp, rule)]);
    render(&View { at: "/_sink", messages: &messages, rules: &rules, via: None, selected: open })
}

fn store(sink: &Sink, text: &str) {
    let received = ReceivedMessage {
        to: "+15551234567".to_owned(),
        text: text.to_owned(),
        ..ReceivedMessage::default()
    };
    sink.state.store(ProviderKind::Sms, received);
}

#[test]
fn everything_that_was_sent_is_escaped() {
    for open in [None].into_iter().chain(Tab::ALL.map(|tab| Some((7, tab)))) {
        let page = shown(evil(), open);
        assert!(page.contains("&lt;script&gt;"), "{open:?}");
        for tag in ["<script", "<img", "onerror=alert(1)>"] {
            assert!(!page.contains(tag), "{open:?}: {tag}");
        }
    }
}

#[test]
fn a_mail_is_framed_and_can_run_nothing() {
    let page = shown(evil(), Some((7, Tab::Html)));
    let (_, frame) = page.split_once("<iframe").unwrap();
    let (frame, _) = frame.split_once("</iframe>").unwrap();
    assert!(frame.contains("sandbox=\"allow-popups allow-popups-to-escape-sandbox\""));
    assert!(!frame.contains("allow-scripts") && !frame.contains("allow-same-origin"));
    assert!(!frame.contains("allow-forms") && !frame.contains("allow-top-navigation"));
}

#[test]
fn a_message_without_html_has_no_such_tab() {
    let page = shown(SinkMessage { html: None, ..evil() }, Some((7, Tab::Html)));
    assert!(!page.contains("<iframe") && !page.contains("tab=html"));
    assert!(page.contains("<pre class=\"text\">"));
}

#[test]
fn the_page_fetches_nothing() {
    let page = shown(evil(), None);
    for way in ["http:", "https:", "url(", "@import", "<link", "<script", " src="] {
        let page = page.replace(&maud::html! { (EVIL) }.into_string(), "");
        assert!(!page.contains(way), "{way}");
    }
}

fn request(
    sink: &Sink,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response {
    let mut builder = ::http::Request::builder().method(method).uri(path);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    respond(sink, "/_sink", &builder.body(body.to_owned().into()).unwrap())
}

#[tokio::test]
async fn a_form_scripts_a_provider() {
    let sink = Sink::start(SinkOptions::default()).await.unwrap();
    for (form, behaviour, times) in [
        ("via=smtp&kind=hang", Behaviour::Hang, None),
        ("via=smtp&kind=slow&amount=50&times=2", Behaviour::Slow { milliseconds: 50 }, Some(2)),
        ("via=smtp&kind=throttle&amount=9", Behaviour::Throttle { retry_after_seconds: 9 }, None),
        (
            "via=smtp&kind=fail&code=554&reason=no%0D%0A250+yes&times=",
            Behaviour::Fail { code: 554, reason: "no250 yes".to_owned() },
            None,
        ),
        (
            "via=smtp&kind=fail",
            Behaviour::Fail { code: 550, reason: "5.1.1 no such user".to_owned() },
            None,
        ),
        ("via=smtp&kind=accept-then-cut&times=1", Behaviour::AcceptThenCut, Some(1)),
        ("via=smtp&kind=accept", Behaviour::Accept, None),
    ] {
        let answer = request(&sink, Method::POST, "/_sink/behave", &[], form);
        assert_eq!(answer.status(), StatusCode::SEE_OTHER, "{form}");
        assert_eq!(
            sink.behaviour_rule(ProviderKind::Smtp),
            BehaviourRule { behaviour, times },
            "{form}"
        );
    }
    for form in ["", "via=pigeon&kind=hang", "via=smtp&kind=dance", "via=smtp&kind=fail&code=x"] {
        let answer = request(&sink, Method::POST, "/_sink/behave", &[], form);
        assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY, "{form}");
    }
}

#[tokio::test]
async fn another_site_changes_nothing_and_reads_nothing() {
    let sink = Sink::start(SinkOptions::default()).await.unwrap();
    store(&sink, "hello");
    for site in ["cross-site", "same-site"] {
        let from = [("sec-fetch-site", site)];
        for path in ["/_sink/clear", "/_sink/behave"] {
            let answer = request(&sink, Method::POST, path, &from, "via=smtp&kind=hang");
            assert_eq!(answer.status(), StatusCode::FORBIDDEN);
        }
    }
    for host in
        ["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example"]
    {
        let answer = request(&sink, Method::GET, "/_sink/messages.json", &[("host", host)], "");
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{host}");
    }
    assert_eq!(
        (sink.messages().len(), sink.behaviour_rule(ProviderKind::Smtp)),
        (1, BehaviourRule::default())
    );
    for host in ["localhost:8080", "127.0.0.1:1", "[::1]:1", "[::1]", "sink.localhost", "localhost"]
    {
        let answer = request(&sink, Method::GET, "/_sink", &[("host", host)], "");
        assert_eq!(answer.status(), StatusCode::OK, "{host}");
    }
}

#[tokio::test]
async fn everything_is_there_as_json_too() {
    let sink = Sink::start(SinkOptions::default()).await.unwrap();
    store(&sink, "hello");
    for (path, pointer) in [("/_sink/messages.json", "/0/text"), ("/_sink/1.json", "/text")] {
        let answer = request(&sink, Method::GET, path, &[], "");
        let value: serde_json::Value = serde_json::from_slice(answer.body()).unwrap();
        assert_eq!(value.pointer(pointer).unwrap(), "hello");
    }
    for path in ["/_sink/2", "/_sink/2.json", "/_sink/x"] {
        assert_eq!(request(&sink, Method::GET, path, &[], "").status(), StatusCode::NOT_FOUND);
    }
    let answer = request(&sink, Method::GET, "/_sink/1?tab=source&via=sms", &[], "");
    let policy = answer.headers()["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("script"));
    assert_eq!(
        request(&sink, Method::POST, "/_sink/clear", &[], "").status(),
        StatusCode::SEE_OTHER
    );
    assert!(sink.messages().is_empty());
}
