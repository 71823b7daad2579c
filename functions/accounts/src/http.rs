//! Who is calling: accounts, API keys and roles.
//!
//! Trigger: HTTP. Effect: each change is one transaction of the change, its audit row and (where the
//! caller sent an `Idempotency-Key`) its answer; then an event on the topic `account-events`.
//! Guarantee: a repeated request changes nothing twice; an event that could not be published stays
//! in the outbox for `sweep-accounts`; the last admin stays; a secret is shown once and never kept.

mod audit;
mod keys;
mod page;
mod state;
mod users;
mod view;

use std::sync::Arc;

use ::http::request::Parts;
use axum::extract::FromRequestParts;
use boundary::http::{Api, Call, Operations, Path, Problem, Result, Segment};
use boundary::openapi::{DescribeExtractor, OperationEntry};
use boundary::{Host, Misconfigured};
use domain::accounts::{Account, KeyId, Rejected, UserId};
use schemars::SchemaGenerator;

use crate::http::state::App;

/// The function on `host`.
pub fn function(host: &Host) -> Result<Api, Misconfigured> {
    Api::new(host, App::from_host(host)?, operations)
}

/// What it answers.
pub fn operations(to: &mut impl Operations<App>) {
    to.on(users::ME, users::me);
    to.on(users::CREATE, users::create);
    to.on(users::LIST, users::list);
    to.on(users::READ, users::read);
    to.on(users::AMEND, users::amend);
    to.on(users::DISABLE, users::disable);
    to.on(audit::TRAIL, audit::trail);
    to.on(keys::CREATE, keys::create);
    to.on(keys::LIST, keys::list);
    to.on(keys::REVOKE, keys::revoke);
}

/// The path names an account.
pub(crate) struct UserPath;

impl Segment for UserPath {
    type Value = UserId;
    const NAME: &'static str = "userId";
    const MEANING: &'static str = "The account.";

    fn parse(text: &str) -> Result<UserId> {
        UserId::parse(text).map_err(|_| Rejected::UnknownAccount.into())
    }
}

/// The path names a key.
pub(crate) struct KeyPath;

impl Segment for KeyPath {
    type Value = KeyId;
    const NAME: &'static str = "keyId";
    const MEANING: &'static str = "The part of the key before the dot.";

    fn parse(text: &str) -> Result<KeyId> {
        KeyId::parse(text).ok_or_else(|| Rejected::UnknownKey.into())
    }
}

/// The account that the path names, if the caller may manage it: 404 otherwise.
pub(crate) struct Managed(pub(crate) Account);

impl FromRequestParts<Arc<App>> for Managed {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let Path(user_id) = Path::<UserPath>::from_request_parts(parts, app).await?;
        let call = Call::from_request_parts(parts, app).await?;
        app.managed(&user_id, &call).await.map(Self)
    }
}

impl DescribeExtractor for Managed {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        Path::<UserPath>::describe(entry, schemas);
        entry.errors(&[404]);
    }
}
