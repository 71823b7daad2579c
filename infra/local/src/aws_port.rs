//! The services on a port, for tools outside this process: the aws command line, and functions
//! that run under `cargo lambda watch`.

use std::sync::Arc;

use tokio::net::TcpListener;

use crate::server;
use crate::services::Services;

/// S3 accepts parts of 5 GB; nothing local needs more than this.
const BODY_CAP: usize = 256 * 1024 * 1024;

/// Serves `services` on `listener` until the runtime ends.
pub async fn serve(listener: TcpListener, services: Services) {
    let handler: server::Handler = Arc::new(move |request, _| {
        let services = services.clone();
        Box::pin(async move { services.handle(request).await })
    });
    server::serve(listener, BODY_CAP, handler).await;
}
