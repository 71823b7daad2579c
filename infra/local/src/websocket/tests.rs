//! A real client over loopback against a fixture's API, whose function is written with `boundary`.

mod echo;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use boundary::FunctionFactory;
use boundary::telemetry::Log;
use domain::Timestamp;
use domain::accounts::SecretHash;
use futures::{SinkExt, StreamExt};
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::{Cloud, MovableClock, Options};

const MINUTE_MS: i64 = 60_000;

type Client = WebSocketStream<TcpStream>;

/// A cloud that serves the fixture, and what its function logs.
struct Fixture {
    cloud: Cloud,
    clock: MovableClock,
    authority: String,
    lines: UnboundedReceiver<Value>,
}

impl Fixture {
    async fn start() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut options = Options::new(&root.join("fixtures/websocket.yaml"));
        let start: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let clock = MovableClock::starting_at(start);
        let hash = SecretHash::of("secret").to_hex();
        options.parameters.insert("AdminKeyHash".to_owned(), hash);
        options.clock = Some(clock.clone());
        options.functions.insert("echo".to_owned(), FunctionFactory::new(echo::function));
        let (sender, lines) = unbounded_channel();
        options.log = Log::new(move |line| {
            let _ = sender.send(serde_json::from_str(line).unwrap());
        });
        let cloud = Cloud::start(options).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        let serving = cloud.clone();
        tokio::spawn(async move { serving.serve(listener, Arc::new(|_, _, _, _| {})).await });
        Self { cloud, clock, authority, lines }
    }

    async fn try_to_connect(
        &self,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Client, Error> {
        let url = format!("ws://{}{path}", self.authority);
        let mut request: Request<()> = url.into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let stream = TcpStream::connect(&self.authority).await.unwrap();
        client_async(request, stream).await.map(|(client, _)| client)
    }

    async fn connect(&self) -> Client {
        let key = [("authorization", "Bearer root.secret")];
        self.try_to_connect("/_ws/Socket?since=7", &key).await.unwrap()
    }

    /// The next line about an event of that kind.
    async fn line(&mut self, event: &str) -> Value {
        let found = async {
            while let Some(line) = self.lines.recv().await {
                if line["event"] == event {
                    return line;
                }
            }
            panic!("the log ended");
        };
        tokio::time::timeout(Duration::from_secs(20), found).await.expect(event)
    }
}

/// Sends a text and receives the next one.
async fn round_trip(client: &mut Client, text: impl Into<String>) -> String {
    client.send(Message::text(text.into())).await.unwrap();
    receive(client).await.into_text().unwrap().to_string()
}

async fn receive(client: &mut Client) -> Message {
    let received = tokio::time::timeout(Duration::from_secs(20), client.next()).await;
    received.expect("something in time").expect("something").unwrap()
}

/// The code that the cloud closes with.
async fn close_code(client: &mut Client) -> u16 {
    let received = receive(client).await;
    let Message::Close(Some(frame)) = received else { panic!("{received:?}") };
    frame.code.into()
}

fn status_of(refused: Result<Client, Error>) -> StatusCode {
    match refused.map(|_| ()) {
        Err(Error::Http(response)) => response.status(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_client_without_a_key_is_refused_with_the_function_s_status() {
    let mut fixture = Fixture::start().await;
    for headers in [&[][..], &[("authorization", "Bearer root.wrong")]] {
        let refused = fixture.try_to_connect("/_ws/Socket", headers).await;
        assert_eq!(status_of(refused), StatusCode::UNAUTHORIZED);
        assert_eq!(fixture.line("connect").await["status"], 401);
    }
    let key = [("authorization", "Bearer root.secret")];
    for (path, status) in [("/_ws/Other", 404), ("/_ws/Socket/other", 404), ("/other", 404)] {
        let refused = fixture.try_to_connect(path, &key).await;
        assert_eq!(status_of(refused).as_u16(), status, "{path}");
    }
    // What the function itself says no to.
    let refused = fixture.try_to_connect("/_ws/Socket?since=never", &key).await;
    assert_eq!(status_of(refused), StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(fixture.cloud.sockets.connections().count(), 0);
}

#[tokio::test]
async fn a_browser_proves_itself_with_a_subprotocol_and_the_other_one_is_accepted() {
    let fixture = Fixture::start().await;
    let offered = [("sec-websocket-protocol", "switchyard.v1, bearer.root.secret")];
    let mut client = fixture.try_to_connect("/live", &offered).await.unwrap();
    assert_eq!(round_trip(&mut client, "hello").await, "$default: hello");
}

#[tokio::test]
async fn messages_take_their_route_and_answers_are_posted() {
    let mut fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    assert_eq!(fixture.line("connect").await["principal"], "root");
    for (text, answer) in [
        ("no json", "$default: no json"),
        (r#"{"action":"$connect"}"#, r#"$default: {"action":"$connect"}"#),
        (r#"{"action":"unheard"}"#, r#"$default: {"action":"unheard"}"#),
    ] {
        assert_eq!(round_trip(&mut client, text).await, answer);
    }
    client.send(Message::Ping("are you there".into())).await.unwrap();
    assert_eq!(receive(&mut client).await, Message::Pong("are you there".into()));
    let failed: Value = serde_json::from_str(&round_trip(&mut client, "fail").await).unwrap();
    assert_eq!(failed["message"], "Internal server error");
    assert!(failed["connectionId"].is_string());
}

#[tokio::test]
async fn another_connection_is_reached_until_it_is_gone() {
    let mut fixture = Fixture::start().await;
    let (mut first, mut second) = (fixture.connect().await, fixture.connect().await);
    let id = round_trip(&mut first, "who am I").await;
    let post = json!({ "action": "post", "to": id, "text": "good day" }).to_string();
    assert_eq!(round_trip(&mut second, post.clone()).await, "Sent");
    assert_eq!(receive(&mut first).await, Message::text("good day"));

    first.close(None).await.unwrap();
    let gone = fixture.line("disconnect").await;
    assert_eq!((&gone["connection"], &gone["status"]), (&json!(id), &json!(200)));
    assert_eq!(round_trip(&mut second, post).await, "Gone");

    // No close frame is sent when a cable is pulled.
    let id = round_trip(&mut second, "who am I").await;
    drop(second);
    assert_eq!(fixture.line("disconnect").await["connection"], json!(id));
    assert_eq!(fixture.cloud.sockets.connections().count(), 0);
}

#[tokio::test]
async fn a_function_closes_a_connection_and_needs_permission_for_each_api() {
    let mut fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    assert!(round_trip(&mut client, "foreign").await.contains("execute-api:ManageConnections"));
    client.send(Message::text("leave")).await.unwrap();
    assert_eq!(close_code(&mut client).await, 1000);
    fixture.line("disconnect").await;
    let used = fixture.cloud.functions.policy("Echo").unwrap().used();
    let actions: Vec<_> = used.iter().map(|used| used.action.as_str()).collect();
    assert_eq!(actions, ["execute-api:ManageConnections"]);
}

#[tokio::test]
async fn what_is_too_large_or_not_text_ends_the_connection() {
    let mut fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    // One frame may have 32 KB, and what is posted 128 KB.
    let largest = "x".repeat(32 * 1024);
    assert_eq!(round_trip(&mut client, largest.clone()).await, format!("$default: {largest}"));
    assert_eq!(round_trip(&mut client, "grow").await, "PayloadTooLargeException");
    client.send(Message::text(largest + "x")).await.unwrap();
    assert_eq!(close_code(&mut client).await, 1009);
    fixture.line("disconnect").await;
    let mut client = fixture.connect().await;
    client.send(Message::binary(vec![1])).await.unwrap();
    assert_eq!(close_code(&mut client).await, 1003);
}

#[tokio::test]
async fn an_idle_connection_is_closed_after_ten_minutes() {
    let mut fixture = Fixture::start().await;
    let (mut idle, mut lively) = (fixture.connect().await, fixture.connect().await);
    fixture.clock.advance_ms(9 * MINUTE_MS);
    fixture.cloud.sockets.connections().expire();
    assert_eq!(round_trip(&mut lively, "still here").await, "$default: still here");
    fixture.clock.advance_ms(MINUTE_MS);
    fixture.cloud.sockets.connections().expire();
    assert_eq!(close_code(&mut idle).await, 1001);
    fixture.line("disconnect").await;
    assert_eq!(round_trip(&mut lively, "still here").await, "$default: still here");
}

#[tokio::test]
async fn no_connection_lasts_longer_than_two_hours() {
    let mut fixture = Fixture::start().await;
    let mut client = fixture.connect().await;
    for _ in 0..14 {
        fixture.clock.advance_ms(8 * MINUTE_MS);
        fixture.cloud.sockets.connections().expire();
        assert_eq!(round_trip(&mut client, "on").await, "$default: on");
    }
    fixture.clock.advance_ms(8 * MINUTE_MS);
    fixture.cloud.sockets.connections().expire();
    assert_eq!(close_code(&mut client).await, 1001);
    fixture.line("disconnect").await;
}
