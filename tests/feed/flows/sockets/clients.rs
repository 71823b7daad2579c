//! People with keys and sockets, on a cloud that serves.

use std::sync::Arc;
use std::time::Duration;

use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::{PostId, ServerMessage};
use futures::{SinkExt, StreamExt};
use http::Request;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::feed::flows::People;

/// What has not come by then does not come.
const PATIENCE: Duration = Duration::from_secs(20);

/// Long enough for what is posted to a connection to come through it.
const MOMENT: Duration = Duration::from_millis(200);

pub(super) struct SocketLab {
    pub(super) people: People,
    authority: String,
}

pub(super) struct SocketClient {
    stream: WebSocketStream<TcpStream>,
}

pub(super) fn person(name: &str) -> UserId {
    UserId::outside(name)
}

impl SocketLab {
    pub(super) async fn of(names: &[&str], settings: &str) -> Self {
        let people = People::with(names, settings).await;
        let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let authority = target.local_addr().unwrap().to_string();
        let cloud = people.lab.cloud.clone();
        tokio::spawn(async move { cloud.serve(target, Arc::new(|_, _, _, _| {})).await });
        Self { people, authority }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.people.lab.now()
    }

    pub(super) fn pass_seconds(&self, seconds: i64) {
        self.people.lab.advance_seconds(seconds);
    }

    /// Lets messages arrive, each once: who is told twice by a doubled one is another test's business.
    pub(super) async fn settle(&self) {
        self.people.lab.cloud.settle().await;
    }

    pub(super) async fn follow(&self, who: &str, whom: &str) {
        self.people.put(who, "follow", whom).await;
    }

    pub(super) async fn post(&self, who: &str, body: Value) -> PostId {
        PostId::parse(&self.people.post(who, body).await).unwrap()
    }

    pub(super) async fn say(&self, who: &str, text: &str) -> PostId {
        self.post(who, json!({ "text": text })).await
    }

    async fn open(&self, authorization: &str) -> Result<SocketClient, Error> {
        let url = format!("ws://{}/_ws/FeedSocketApi", self.authority);
        let mut request: Request<()> = url.into_client_request().unwrap();
        if !authorization.is_empty() {
            request.headers_mut().insert("authorization", authorization.parse().unwrap());
        }
        let stream = TcpStream::connect(&self.authority).await.unwrap();
        client_async(request, stream).await.map(|(stream, _)| SocketClient { stream })
    }

    pub(super) async fn connect(&self, who: &str) -> SocketClient {
        self.open(&format!("Bearer {}", self.people.key(who))).await.unwrap()
    }

    pub(super) async fn refused(&self, authorization: &str) -> u16 {
        match self.open(authorization).await.map(|_| ()) {
            Err(Error::Http(response)) => response.status().as_u16(),
            other => panic!("{other:?}"),
        }
    }

    /// Waits until so many connections were told to be gone.
    pub(super) async fn disconnected(&self, count: usize) {
        let all_gone = async {
            let is_one = |line: &&String| line.contains("\"event\":\"disconnect\"");
            while self.people.lab.lines().iter().filter(is_one).count() < count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, all_gone).await.unwrap();
    }

    pub(super) async fn connections(&self, who: &str) -> Vec<String> {
        let mut found = self.people.store().presence([&person(who)]).await.unwrap();
        found.remove(&person(who)).map(|it| it.connections).unwrap_or_default()
    }
}

impl SocketClient {
    pub(super) async fn send_text(&mut self, text: &str) {
        self.stream.send(Message::text(text)).await.unwrap();
    }

    pub(super) async fn say(&mut self, message: &Value) {
        self.send_text(&message.to_string()).await;
    }

    async fn receive(&mut self) -> Message {
        tokio::time::timeout(PATIENCE, self.stream.next()).await.unwrap().unwrap().unwrap()
    }

    pub(super) async fn next_message(&mut self) -> ServerMessage {
        let heard = self.receive().await;
        serde_json::from_str(heard.to_text().unwrap()).unwrap()
    }

    /// The posts that the next hint names.
    pub(super) async fn named(&mut self) -> Vec<PostId> {
        let hint = self.next_message().await;
        let ServerMessage::NewPosts { post_ids, .. } = hint else { panic!("{hint:?}") };
        post_ids
    }

    /// The code that it is closed with.
    pub(super) async fn close_code(&mut self) -> u16 {
        let heard = self.receive().await;
        let Message::Close(Some(frame)) = heard else { panic!("{heard:?}") };
        frame.code.into()
    }

    pub(super) async fn receives_nothing(&mut self) -> bool {
        tokio::time::timeout(MOMENT, self.stream.next()).await.is_err()
    }

    /// The posts that are named until nothing more comes for a moment.
    pub(super) async fn all_named(&mut self) -> Vec<PostId> {
        let mut named = Vec::new();
        while let Ok(heard) = tokio::time::timeout(MOMENT, self.stream.next()).await {
            let hint = serde_json::from_str(heard.unwrap().unwrap().to_text().unwrap()).unwrap();
            let ServerMessage::NewPosts { post_ids, .. } = hint else { panic!("{hint:?}") };
            named.extend(post_ids);
        }
        named
    }

    pub(super) fn vanish(self) {
        drop(self.stream);
    }
}
