//! The signal that an environment ends.
//!
//! Lambda sends SIGTERM to a process only if an extension is registered, so one is that asks for
//! no events. Where there is no Extensions API (some emulators) the function runs without, and receives
//! a SIGTERM only if another process sends it.

use std::future::Future;
use std::time::Duration;

use lambda_runtime_api_client::body::Body;
use lambda_runtime_api_client::{BoxError, Client};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Lambda kills the process half a second after the signal.
const GRACE: Duration = Duration::from_millis(450);

/// An Extensions API answers at once or is not there.
const PATIENCE: Duration = Duration::from_millis(500);

/// Waits for the end.
pub(super) struct Shutdown(Option<Signal>);

impl Shutdown {
    /// Registers for the signal, as far as that is possible here. Must come before the first event is
    /// asked for: extensions can be registered only while an environment starts.
    pub(super) async fn register(runtime_api: Option<&str>) -> Self {
        let signal = signal(SignalKind::terminate()).ok();
        if let Some(address) = runtime_api
            && let Ok(Ok((client, id))) =
                tokio::time::timeout(PATIENCE, register_extension(address)).await
        {
            // Lambda ends the start of an environment when every extension has asked for an event.
            // None ever comes, so this never returns.
            tokio::spawn(async move {
                let _ = next_event(&client, &id).await;
            });
        }
        Self(signal)
    }

    /// Resolves when the environment is about to end.
    pub(super) async fn signalled(&mut self) {
        match &mut self.0 {
            Some(signal) => {
                signal.recv().await;
            }
            None => std::future::pending().await,
        }
    }
}

/// Does `work`, or as much of it as there is time for.
pub(super) async fn within_grace(work: impl Future<Output = ()>) {
    // What was not done in time is lost with the environment either way.
    let _ = tokio::time::timeout(GRACE, work).await;
}

/// Registers an extension without events and gives its id.
async fn register_extension(address: &str) -> Result<(Client, String), BoxError> {
    let client = Client::builder().with_endpoint(format!("http://{address}").parse()?).build()?;
    let request = http::Request::post("/2020-01-01/extension/register")
        .header("lambda-extension-name", "switchyard-shutdown")
        .header("content-type", "application/json")
        .body(Body::from(r#"{"events":[]}"#))?;
    let response = client.call(request).await?;
    let id = response.headers().get("lambda-extension-identifier");
    let id = id.ok_or("the Extensions API gave no identifier")?.to_str()?.to_owned();
    Ok((client, id))
}

async fn next_event(client: &Client, id: &str) -> Result<(), BoxError> {
    let request = http::Request::get("/2020-01-01/extension/event/next")
        .header("lambda-extension-identifier", id)
        .body(Body::empty())?;
    client.call(request).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn an_extension_without_events_is_registered() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let requests = tokio::spawn(async move {
            let mut requests = Vec::new();
            let (mut stream, _) = listener.accept().await.unwrap();
            for answer in ["lambda-extension-identifier: 7\r\n", ""] {
                let mut bytes = [0; 2048];
                let count = stream.read(&mut bytes).await.unwrap();
                requests.push(String::from_utf8_lossy(&bytes[..count]).into_owned());
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n{answer}\r\n");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
            requests
        });
        let _shutdown = Shutdown::register(Some(&address)).await;
        let requests = requests.await.unwrap();
        assert!(requests[0].starts_with("POST /2020-01-01/extension/register"), "{requests:?}");
        assert!(requests[0].ends_with(r#"{"events":[]}"#), "{requests:?}");
        assert!(requests[1].starts_with("GET /2020-01-01/extension/event/next"), "{requests:?}");
        assert!(requests[1].contains("lambda-extension-identifier: 7"), "{requests:?}");
    }

    #[tokio::test]
    async fn a_function_starts_where_there_is_no_such_api() {
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        for address in [None, Some(free.to_string())] {
            let mut shutdown = Shutdown::register(address.as_deref()).await;
            let waiting = tokio::time::timeout(Duration::from_millis(1), shutdown.signalled());
            assert!(waiting.await.is_err(), "no signal was sent");
        }
    }
}
