//! Ids: 64 bits, unique and sorted by time, without a server to ask.

pub mod http;

use boundary::System;

/// What is registered of it.
pub fn system() -> System {
    System::new(
        "ids",
        "Ids",
        "64-bit ids that are unique and sorted by time, without a server to ask.",
    )
    .http("ids", http::function, http::operations)
    .table(&store::schema::IDS)
    .always_deployed()
    .example("curl -XPOST \"$SWITCHYARD_URL/api/v1/ids?count=3\" -H \"$A\"")
}
