//! Two who are connected, over plain sockets: what an emulator has. On AWS they are `wss`, and are left out.

use std::error::Error;
use std::net::TcpStream;
use std::time::Duration;

use e2e::target;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::HandshakeError;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};

use super::Person;

/// A read waits so long, and is repeated so often before nothing comes any more.
const WAIT: Duration = Duration::from_millis(100);
const WAITS: usize = 200;

/// A client's end of a connection.
struct SocketClient {
    stream: WebSocket<TcpStream>,
}

impl SocketClient {
    fn of(person: &Person<'_>, url: &str) -> Result<Self, Box<dyn Error>> {
        let mut request = url.into_client_request()?;
        let bearer = format!("Bearer {}", person.key).parse()?;
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

    fn say(&mut self, message: &Value) -> Result<(), Box<dyn Error>> {
        Ok(self.stream.send(Message::text(message.to_string()))?)
    }

    /// What comes until something fits.
    fn receives(&mut self, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut heard: Vec<Value> = Vec::new();
        for _ in 0..WAITS {
            if heard.last().is_some_and(&fits) {
                break;
            }
            let Ok(Message::Text(text)) = self.stream.read() else { continue };
            heard.extend(serde_json::from_str(&text));
        }
        heard
    }
}

fn names(said: &Value, post: &str) -> bool {
    said["postIds"].as_array().is_some_and(|ids| ids.iter().any(|id| id == post))
}

#[expect(clippy::disallowed_methods, reason = "the deployment says where sockets are")]
fn url(person: &Person<'_>) -> String {
    let told = person.get("/api/v1/feed/realtime").text("url").to_owned();
    std::env::var("SWITCHYARD_SOCKET").unwrap_or(told)
}

#[test]
fn two_who_are_connected_hear_of_a_post_and_who_was_cut_off_hears_of_it_later() {
    let target = target();
    let [ada, bob, cid, eve] = ["ada", "bob", "cid", "eve"].map(|it| Person::new(target, it));
    let url = url(&bob);
    if url.starts_with("wss:") {
        return;
    }
    for reader in [&bob, &cid] {
        reader.relate("PUT", &ada, "follow");
        reader.relate("PUT", &eve, "follow");
        reader.sees(&[]);
    }
    let (mut first, mut second) =
        (SocketClient::of(&bob, &url).unwrap(), SocketClient::of(&cid, &url).unwrap());
    let post = |by: &Person<'_>, text: &str| {
        by.post(&json!({ "text": text })).rsplit('/').next().unwrap_or_default().to_owned()
    };
    let one = post(&ada, "one");
    for ear in [&mut first, &mut second] {
        let heard = ear.receives(|said| names(said, &one));
        assert!(heard.iter().any(|said| names(said, &one)), "{heard:?}");
    }
    first.say(&json!({ "type": "ping" })).unwrap();
    let pong = first.receives(|said| said["type"] == "pong").pop().unwrap();
    drop(first);
    bob.relate("PUT", &eve, "block");
    let (two, blocked) = (post(&ada, "two"), post(&eve, "blocked"));
    bob.sees(&["two", "one"]);
    let mut first = SocketClient::of(&bob, &url).unwrap();
    first.say(&json!({ "type": "resume", "position": pong["position"] })).unwrap();
    let heard = first.receives(|said| names(said, &two));
    assert!(heard.iter().any(|said| names(said, &two)), "{heard:?}");
    assert!(!heard.iter().any(|said| names(said, &blocked)), "who is blocked is not heard");
}
