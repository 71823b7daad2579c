//! What tests share: a network whose names and routes they choose, servers on the loopback,
//! and a canary there that counts connections.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::{FetchLimits, Fetcher, Network, NetworkError};

/// A public address, and the one most tests route to a server of their own.
pub(crate) const PUBLIC: &str = "93.184.216.34";

/// Names and routes. What is not routed is connected to for real, as a function would.
#[derive(Clone, Default)]
pub(crate) struct FakeNetwork(Arc<Mutex<FakeState>>);

#[derive(Default)]
struct FakeState {
    names: HashMap<String, Vec<Vec<IpAddr>>>,
    routes: HashMap<SocketAddr, SocketAddr>,
    resolved: Vec<String>,
    connected: Vec<SocketAddr>,
}

impl FakeNetwork {
    /// The next answer for `name`; the last one repeats.
    pub(crate) fn name(self, name: &str, addresses: &[&str]) -> Self {
        let answer = addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.0.lock().unwrap().names.entry(name.to_owned()).or_default().push(answer);
        self
    }

    /// Connections to `public` reach `server`.
    pub(crate) fn route(self, public: &str, server: SocketAddr) -> Self {
        self.0.lock().unwrap().routes.insert(public.parse().unwrap(), server);
        self
    }

    pub(crate) fn network(&self) -> Network {
        let (names, routes) = (self.clone(), self.clone());
        Network::system()
            .with_resolver(move |name| {
                let answer = names.resolve(&name);
                Box::pin(async { answer })
            })
            .with_connect(move |address| Box::pin(TcpStream::connect(routes.route_for(address))))
    }

    pub(crate) fn fetcher(&self) -> Fetcher {
        Fetcher::new(self.network())
    }

    /// Every name that was resolved, in order.
    pub(crate) fn resolved(&self) -> Vec<String> {
        self.0.lock().unwrap().resolved.clone()
    }

    /// Every address that was connected to, in order.
    pub(crate) fn connected(&self) -> Vec<String> {
        self.0.lock().unwrap().connected.iter().map(ToString::to_string).collect()
    }

    fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, NetworkError> {
        let mut state = self.0.lock().unwrap();
        let before = state.resolved.iter().filter(|resolved| *resolved == name).count();
        state.resolved.push(name.to_owned());
        let answers = state.names.get(name);
        let answers = answers.ok_or_else(|| NetworkError::new("resolve a name", "no such name"))?;
        Ok(answers[before.min(answers.len() - 1)].clone())
    }

    fn route_for(&self, address: SocketAddr) -> SocketAddr {
        let mut state = self.0.lock().unwrap();
        state.connected.push(address);
        state.routes.get(&address).copied().unwrap_or(address)
    }
}

/// A network with one site, `site.test`, whose web server is at `server`.
pub(crate) fn site(server: SocketAddr) -> FakeNetwork {
    FakeNetwork::default().name("site.test", &[PUBLIC]).route("93.184.216.34:80", server)
}

/// The usual limits, but for tests that wait for them to run out.
pub(crate) fn short_limits() -> FetchLimits {
    FetchLimits { timeout: Duration::from_millis(400), ..FetchLimits::default() }
}

/// Fails a test that would hang.
pub(crate) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(10), work).await.expect("it should have ended")
}

/// Listens on the loopback and expects no connection.
pub(crate) struct Canary(std::net::TcpListener);

impl Canary {
    pub(crate) fn new() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    /// How many connected. On the loopback a connection is in the backlog before `connect` returns.
    pub(crate) fn connections(&self) -> usize {
        let mut count = 0;
        loop {
            match self.0.accept() {
                Ok(_) => count += 1,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return count,
                Err(error) => panic!("cannot accept: {error}"),
            }
        }
    }
}

/// A server whose every connection is handled by `handle`.
pub(crate) async fn serve<F, W>(handle: F) -> SocketAddr
where
    F: Fn(TcpStream) -> W + Send + 'static,
    W: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let _accepting: JoinHandle<()> = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(handle(stream));
        }
    });
    address
}

/// A server that answers each request with what `answer` makes of its head, and hangs up.
pub(crate) async fn http_server<F>(answer: F) -> SocketAddr
where
    F: Fn(&str) -> Vec<u8> + Send + Sync + 'static,
{
    let answer = Arc::new(answer);
    serve(move |mut stream| {
        let answer = Arc::clone(&answer);
        async move {
            let head = read_head(&mut stream).await;
            // The client may hang up first, when it has read enough.
            let _sent = stream.write_all(&answer(&head)).await;
            let _ended = stream.shutdown().await;
        }
    })
    .await
}

/// Reads a request up to the empty line.
pub(crate) async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).unwrap()
}

/// A proper answer.
pub(crate) fn ok(content_type: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

pub(crate) fn redirect_to(location: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n").into_bytes()
}
