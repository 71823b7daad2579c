//! Limits: may it pass? Rate limits and the firewall.

pub mod http;

use boundary::System;

/// What is registered of it.
pub fn system() -> System {
    System::new("limits", "Limits", "May it pass? Rate limits and the firewall.")
        .http("limits", http::function, http::operations)
        .table(&store::schema::LIMITS)
        .always_deployed()
}
