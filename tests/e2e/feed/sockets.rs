//! Two connected users, over the plain sockets of an emulator; on AWS sockets are `wss`, and this is left out.

use std::error::Error;
use std::net::TcpStream;
use std::time::Duration;

use e2e::target;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::HandshakeError;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};

use super::User;

/// A read waits so long, and is repeated so often before nothing comes any more.
const WAIT: Duration = Duration::from_millis(100);
const WAITS: usize = 200;

/// The client of one connection.
struct SocketClient {
    stream: WebSocket<TcpStream>,
}

impl SocketClient {
    fn connect(user: &User<'_>, url: &str) -> Result<Self, Box<dyn Error>> {
        let mut request = url.into_client_request()?;
        let bearer = format!("Bearer {}", user.key).parse()?;
        request.headers_mut().insert("authorization", bearer);
        let authority = request.uri().authority().ok_or("no authority")?.to_string();
        let stream = TcpStream::connect(authority)?;
        stream.set_read_timeout(Some(WAIT))?;
        // A handshake takes as long as the function does, so one that has to wait is taken up again.
        let mut handshake = client(request, stream);
        for _ in 0..WAITS {
            match handshake {
                Ok((stream, _)) => return Ok(Self { stream }),
                Err(HandshakeError::Interrupted(halfway)) => handshake = halfway.handshake(),
                Err(HandshakeError::Failure(refused)) => return Err(refused.into()),
            }
        }
        Err("the handshake does not end".into())
    }

    fn send(&mut self, message: &Value) -> Result<(), Box<dyn Error>> {
        Ok(self.stream.send(Message::text(message.to_string()))?)
    }

    /// What comes until something fits.
    fn receive_until(&mut self, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut received: Vec<Value> = Vec::new();
        for _ in 0..WAITS {
            if received.last().is_some_and(&fits) {
                break;
            }
            let Ok(Message::Text(text)) = self.stream.read() else { continue };
            received.extend(serde_json::from_str(&text));
        }
        received
    }
}

fn names_post(message: &Value, post: &str) -> bool {
    message["postIds"].as_array().is_some_and(|ids| ids.iter().any(|id| id == post))
}

#[expect(clippy::disallowed_methods, reason = "the deployment says where sockets are")]
fn url(user: &User<'_>) -> String {
    let documented = user.get("/api/v1/feed/realtime").text("url").to_owned();
    std::env::var("SWITCHYARD_SOCKET").unwrap_or(documented)
}

#[test]
fn connected_users_receive_a_post_and_a_user_who_was_cut_off_receives_it_on_resuming() {
    let target = target();
    let [ada, bob, cid, eve] = ["ada", "bob", "cid", "eve"].map(|it| User::new(target, it));
    let url = url(&bob);
    if url.starts_with("wss:") {
        return;
    }
    for reader in [&bob, &cid] {
        reader.set_relationship("PUT", &ada, "follow");
        reader.set_relationship("PUT", &eve, "follow");
        reader.await_feed(&[]);
    }
    let (mut first, mut second) =
        (SocketClient::connect(&bob, &url).unwrap(), SocketClient::connect(&cid, &url).unwrap());
    let post = |by: &User<'_>, text: &str| {
        by.post(&json!({ "text": text })).rsplit('/').next().unwrap_or_default().to_owned()
    };
    let one = post(&ada, "one");
    for client in [&mut first, &mut second] {
        let received = client.receive_until(|message| names_post(message, &one));
        assert!(received.iter().any(|message| names_post(message, &one)), "{received:?}");
    }
    first.send(&json!({ "type": "ping" })).unwrap();
    let pong = first.receive_until(|message| message["type"] == "pong").pop().unwrap();
    drop(first);
    bob.set_relationship("PUT", &eve, "block");
    let (two, blocked) = (post(&ada, "two"), post(&eve, "blocked"));
    bob.await_feed(&["two", "one"]);
    let mut first = SocketClient::connect(&bob, &url).unwrap();
    first.send(&json!({ "type": "resume", "position": pong["position"] })).unwrap();
    let received = first.receive_until(|message| names_post(message, &two));
    assert!(received.iter().any(|message| names_post(message, &two)), "{received:?}");
    assert!(
        !received.iter().any(|message| names_post(message, &blocked)),
        "posts of a blocked author are not sent"
    );
}
