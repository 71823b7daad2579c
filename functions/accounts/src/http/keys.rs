//! API keys: create, list, revoke.

use std::sync::Arc;

use boundary::http::{
    Call, Created, Cursor, IdempotencyKey, Json, NoContent, Operation, Path, Problem, Query,
    Repeatable, Result, State, Storable,
};
use boundary::idempotency::{self, Execution};
use domain::Timestamp;
use domain::accounts::{
    AccountChange, ApiKey, AuditEntry, KeyId, NewKey, PresentedKey, Rejected, Role,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::accounts::{KeyCreation, KeyRevocation};
use store::idempotency::Ticket;

use super::page::{PageQuery, PageView};
use super::view::{RoleName, names};
use super::{KeyPath, Managed, UserPath};
use crate::http::state::App;

/// A key to create.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewKeyBody {
    /// A label for people, 1 to 100 characters.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) name: Option<String>,
    /// When it stops working by itself, as RFC 3339.
    expires_at: Option<String>,
    /// Fewer roles than the account has; all of them if left out.
    #[schemars(with = "Option<Vec<RoleName>>")]
    pub(crate) roles: Option<Vec<Role>>,
}

impl NewKeyBody {
    pub(crate) fn expires_at(&self) -> Result<Option<Timestamp>> {
        let parse = |text: &String| {
            text.parse().map_err(|_| {
                Problem::field("expiresAt", "an RFC 3339 time like 2030-01-31T12:00:00Z")
            })
        };
        self.expires_at.as_ref().map(parse).transpose()
    }
}

/// A key, without its secret.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyView {
    /// The part of the key before the dot.
    key_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The roles it is narrowed to; absent when it has all of its account's.
    #[serde(skip_serializing_if = "Option::is_none")]
    roles: Option<Vec<String>>,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_at: Option<String>,
    /// To the hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<String>,
}

impl From<&ApiKey> for KeyView {
    fn from(key: &ApiKey) -> Self {
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        Self {
            key_id: key.key_id.as_str().to_owned(),
            name: key.name.clone(),
            roles: key.roles.map(names),
            created_at: key.created_at.to_string(),
            expires_at: time(key.expires_at),
            revoked_at: time(key.revoked_at),
            last_used_at: time(key.last_used_at),
        }
    }
}

/// A new key.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreatedKeyView {
    /// The whole key, `keyId.secret`: shown this once. Absent when a request is repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    #[serde(flatten)]
    pub(crate) details: KeyView,
}

pub(super) const CREATE: Operation = Operation::post(
    "/api/v1/accounts/{userId}/keys",
    "createKey",
    "Create an API key",
)
.description(
    "The secret is shown this once; only its hash is kept. A repeated request gets the same answer \
             without it.",
)
.key()
.refuses(&[404]);

pub(super) async fn create(
    State(app): State<Arc<App>>,
    call: Call,
    key: IdempotencyKey,
    body: Result<Option<Json<NewKeyBody>>>,
    path: Result<Path<UserPath>>,
) -> Result<CreatedKey> {
    let once = app.accounts.once();
    let ticket = match idempotency::claim(once, &call, &key, CREATE.id, &app.entropy).await? {
        Execution::Run(ticket) => ticket,
        Execution::Replay(answer) => return Ok(Repeatable::again(answer)),
    };
    let outcome = create_once(&app, &call, body, path, ticket.as_ref()).await;
    idempotency::release_if_refused(once, ticket.as_ref(), outcome).await
}

type CreatedKey = Repeatable<Created<CreatedKeyView>>;

async fn create_once(
    app: &App,
    call: &Call,
    body: Result<Option<Json<NewKeyBody>>>,
    path: Result<Path<UserPath>>,
    ticket: Option<&Ticket>,
) -> Result<CreatedKey> {
    let body = body?.map(|Json(body)| body).unwrap_or_default();
    let Path(user_id) = path?;
    let account = app.managed(&user_id, call).await?;
    let (api_key, text) = PresentedKey::made_from(app.entropy.bytes(), app.entropy.bytes());
    let new = NewKey {
        name: body.name.clone(),
        expires_at: body.expires_at()?,
        roles: body.roles.map(|roles| roles.into_iter().collect()),
    };
    let key = ApiKey::create(&account, &api_key, &new, call.caller()?, call.now)?;
    let audit = AuditEntry {
        key_id: Some(key.key_id.clone()),
        ..app.audit(AccountChange::KeyCreated, &key.user_id, call)?
    };
    let user = account.user_id.as_str();
    let location = format!("/api/v1/accounts/{user}/keys/{}", key.key_id.as_str());
    let body = CreatedKeyView { key: Some(text), details: KeyView::from(&key) };
    let mut created = Created { location, body };
    let answer = Repeatable::first(&created);
    // A repeated request gets the same answer without the secret, which is kept nowhere.
    created.body.key = None;
    let without_secret = created.stored();
    let kept = ticket.map(|ticket| (ticket, &without_secret));
    match app.accounts.create_key(&key, &audit, kept, &app.entropy.token()).await? {
        KeyCreation::Created => {
            app.publish(&audit, call).await;
            Ok(answer)
        }
        KeyCreation::AccountDisabled => Err(Rejected::AccountDisabled.into()),
        KeyCreation::ClaimLost => Err(Problem::in_progress(1)),
    }
}

pub(super) const LIST: Operation =
    Operation::get("/api/v1/accounts/{userId}/keys", "listKeys", "List API keys")
        .description("Oldest first, revoked ones for 30 days. Never the secret.")
        .key();

pub(super) async fn list(
    State(app): State<Arc<App>>,
    Query(page): Query<PageQuery>,
    Managed(account): Managed,
) -> Result<Json<PageView<KeyView>>> {
    let list = format!("keys of {}", account.user_id.as_str());
    let after = page.position(&list, is_order)?;
    let found = app.accounts.list_keys(&account.user_id, page.limit()?, after.as_deref()).await?;
    let next_cursor = found.next.map(|next| Cursor::new(&list, &next).as_str().to_owned());
    let items = found.items.iter().map(KeyView::from).collect();
    Ok(Json(PageView { items, next_cursor }))
}

/// Keys are listed by age: milliseconds, then the key's id.
fn is_order(position: &str) -> bool {
    position.split_once('#').is_some_and(|(age, id)| {
        age.len() == 13 && age.bytes().all(|b| b.is_ascii_digit()) && KeyId::parse(id).is_some()
    })
}

pub(super) const REVOKE: Operation =
    Operation::delete("/api/v1/accounts/{userId}/keys/{keyId}", "revokeKey", "Revoke an API key")
        .description("It stops within 60 seconds everywhere.")
        .key();

/// Revoking what is revoked changes nothing and says so in the same words.
pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    call: Call,
    Managed(account): Managed,
    Path(key_id): Path<KeyPath>,
) -> Result<NoContent> {
    let audit = AuditEntry {
        key_id: Some(key_id.clone()),
        ..app.audit(AccountChange::KeyRevoked, &account.user_id, &call)?
    };
    let token = app.entropy.token();
    match app.accounts.revoke_key(&account.user_id, &key_id, &audit, &token).await? {
        KeyRevocation::Revoked => {
            app.publish(&audit, &call).await;
            Ok(NoContent)
        }
        KeyRevocation::Already => Ok(NoContent),
        KeyRevocation::Unknown => Err(Rejected::UnknownKey.into()),
    }
}
