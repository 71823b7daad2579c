//! Posts to clients that are connected to a WebSocket API.

use aws_sdk_apigatewaymanagement::Client;
use aws_sdk_apigatewaymanagement::operation::delete_connection::DeleteConnectionError as NotClosed;
use aws_sdk_apigatewaymanagement::operation::post_to_connection::PostToConnectionError as NotPosted;
use aws_smithy_types::Blob;
use domain::{Failure, Result};

/// The connections of one stage of an API.
#[derive(Debug, Clone)]
pub struct Connections {
    client: Client,
}

/// The result of a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posted {
    /// API Gateway took it for a client that was connected then.
    Sent,
    /// There is no such connection any more.
    Gone,
}

impl Connections {
    /// Those of the API and stage of `client`, which [`crate::Aws::connections`] makes.
    pub const fn new(client: Client) -> Self {
        Self { client }
    }

    /// Sends `text` (at most 128 KB). It may arrive twice if API Gateway's own answer is lost.
    pub async fn post(&self, id: &str, text: impl Into<String>) -> Result<Posted> {
        let data = Blob::new(text.into().into_bytes());
        let sent = self.client.post_to_connection().connection_id(id).data(data).send().await;
        match sent {
            Ok(_) => Ok(Posted::Sent),
            Err(error) if error.as_service_error().is_some_and(NotPosted::is_gone_exception) => {
                Ok(Posted::Gone)
            }
            Err(error) => Err(Failure::new("post to a connection", error)),
        }
    }

    /// Closes a connection, if it is still there.
    pub async fn close(&self, id: &str) -> Result {
        match self.client.delete_connection().connection_id(id).send().await {
            Err(error) if !error.as_service_error().is_some_and(NotClosed::is_gone_exception) => {
                Err(Failure::new("close a connection", error))
            }
            _ => Ok(()),
        }
    }
}
