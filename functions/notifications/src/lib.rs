//! Notifications: people are told once, by the ways they want, when they want it.

pub mod deliver;
pub mod http;
pub mod store;
pub mod sweep;

use boundary::System;

/// What is registered of it.
pub fn system() -> System {
    System::new(
        "notifications",
        "Notifications",
        "People are told once, by the ways they want, when they want it.",
    )
    .http("notify", http::function, http::operations)
    .queue("deliver", deliver::function)
    .schedule("sweep-notifications", sweep::function)
}
