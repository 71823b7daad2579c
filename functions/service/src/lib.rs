//! The service as a whole: its health, its document, its start page, and the 404 of unknown paths.

pub mod http;

use boundary::System;

/// What is registered of it.
pub fn system() -> System {
    System::new("service", "Service", "The service as a whole.")
        .http("describe", http::function, http::operations)
        .always_deployed()
        .example("curl $SWITCHYARD_URL/health")
}
