//! Notifications: people are told once, by the ways they want, when they want it.

pub mod deliver;
pub mod http;
pub mod store;
pub mod sweep;

use boundary::System;

pub fn system() -> System {
    System::new(
        "notifications",
        "Notifications",
        "People are told once, by the ways they want, when they want it.",
    )
    .http("notify", http::function, http::operations)
    .queue("deliver", deliver::function)
    .schedule("sweep-notifications", sweep::function)
    .table(&store::TABLE)
    .example(
        "curl -XPUT $SWITCHYARD_URL/api/v1/users/ada/contacts -H \"$A\" -d '{\"email\":\"ada@example.com\"}'\n\
         curl -XPOST $SWITCHYARD_URL/api/v1/notifications -H \"$A\" -d '{\"userId\":\"ada\",\"category\":\"news\",\
         \"content\":{\"email\":{\"subject\":\"Hi\",\"text\":\"Hello\"}}}'",
    )
}
