//! The feed: posts, follows, and a home feed that says why.

pub mod fan_out;
pub mod feed_socket;
pub mod http;
mod settings;
pub mod store;
pub mod sweep;

use boundary::System;

pub fn system() -> System {
    System::new("feed", "Feed", "Posts, follows, and a home feed that says why.")
        .http("feed", http::function, http::operations)
        .queue("fan-out", fan_out::function)
        .socket("feed-socket", feed_socket::function)
        .schedule("sweep-feed", sweep::function)
        .table(&store::TABLE)
        .example("curl -XPOST $SWITCHYARD_URL/api/v1/posts -H \"$A\" -d '{\"text\":\"Hello\"}'")
}
