//! Posts to clients that are connected to a WebSocket API.

use domain::{Failure, Result};
use http::Method;
use rest::{CallError, Client, Request};

/// The connections of one stage of an API.
#[derive(Debug, Clone)]
pub struct Connections(Client);

/// What became of a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posted {
    /// API Gateway took it for a client that was connected then.
    Sent,
    /// There is no such connection any more.
    Gone,
}

impl Connections {
    /// Those of the stage whose client this is, which [`crate::Aws::connections`] makes.
    pub const fn new(client: Client) -> Self {
        Self(client)
    }

    /// Sends `text` (at most 128 KB). It may arrive twice if API Gateway's own answer is lost.
    pub async fn post(&self, id: &str, text: impl Into<String>) -> Result<Posted> {
        match self.0.send(request(Method::POST, id).body(text.into())).await {
            Ok(_) => Ok(Posted::Sent),
            Err(error) if is_gone(&error) => Ok(Posted::Gone),
            Err(error) => Err(Failure::new("post to a connection", error)),
        }
    }

    /// Closes a connection, if it is still there.
    pub async fn close(&self, id: &str) -> Result {
        match self.0.send(request(Method::DELETE, id)).await {
            Err(error) if !is_gone(&error) => Err(Failure::new("close a connection", error)),
            _ => Ok(()),
        }
    }
}

fn request(method: Method, id: &str) -> Request {
    Request::new(method, &format!("/@connections/{id}"))
}

fn is_gone(error: &CallError) -> bool {
    matches!(error, CallError::ServiceError(refused) if refused.err().status() == 410)
}
