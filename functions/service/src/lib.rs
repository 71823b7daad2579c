//! The service as a whole: is it up, what does it answer, and what of a path that no function claims.

pub mod http;

use boundary::System;

/// What is registered of it.
pub fn system() -> System {
    System::new("service", "Service", "The service as a whole.")
        .http("describe", http::function, http::operations)
        .everywhere()
        .example("curl $SWITCHYARD_URL/health")
}
