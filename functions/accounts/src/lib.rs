//! Accounts: who is calling, with which API keys and roles, and what was done to them.

pub mod http;
pub mod sweep;
pub mod tend_keys;

use boundary::System;

/// What is registered of it.
pub fn system() -> System {
    System::new("accounts", "Accounts", "Who is calling: accounts, API keys and roles.")
        .http("accounts", http::function, http::operations)
        .queue("tend-keys", tend_keys::function)
        .schedule("sweep-accounts", sweep::function)
        .table(&store::schema::ACCOUNTS)
        .always_deployed()
        .example("curl $SWITCHYARD_URL/api/v1/me -H \"$A\"")
}
