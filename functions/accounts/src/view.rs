//! Bodies as callers see them: what comes in, what goes out.

use boundary::http::{Cursor, Problem};
use domain::Timestamp;
use domain::accounts::{
    Account, Amendment, Audit, Key, NewValue as Change, Principal, Rejected, Role, Roles, State,
    Tenant,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The caller, as the service knows them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MeView {
    user_id: String,
    name: String,
    /// What this key may do.
    roles: Vec<String>,
    tenant: String,
    /// The key in use; absent for a token of an outside issuer.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_id: Option<String>,
}

impl From<&Principal> for MeView {
    fn from(who: &Principal) -> Self {
        Self {
            user_id: who.user_id.as_str().to_owned(),
            name: who.name.clone(),
            roles: names(who.roles),
            tenant: who.tenant.as_str().to_owned(),
            key_id: who.key_id.as_ref().map(|id| id.as_str().to_owned()),
        }
    }
}

/// An account to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAccountBody {
    /// 1 to 64 of a-z, 0-9, '.', '_' and '-'; made up if left out.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9._-]{0,63}$"))]
    pub(crate) user_id: Option<String>,
    /// 1 to 100 characters.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) name: String,
    /// Where to reach the person.
    #[schemars(length(max = 254))]
    pub(crate) email: Option<String>,
    /// What the account may do; nothing if left out.
    #[serde(default)]
    #[schemars(with = "Vec<RoleName>")]
    pub(crate) roles: Vec<Role>,
    /// The team it belongs to; `default` if left out.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9._-]{0,63}$"))]
    pub(crate) tenant: Option<String>,
}

/// The roles there are.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(
    dead_code,
    reason = "only its schema is used; a contract test compares it with the domain"
)]
pub(crate) enum RoleName {
    Admin,
    Member,
    Notifier,
    JobSubmitter,
    JobViewer,
    JobWorker,
    Limiter,
}

/// A change to an account; what is left out stays.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AccountPatch {
    /// 1 to 100 characters; the one thing users may change about themselves.
    #[schemars(length(min = 1, max = 100))]
    name: Option<String>,
    /// A new address, or null to forget it.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<String>")]
    email: Option<Change<String>>,
    /// The new set of roles.
    #[schemars(with = "Option<Vec<RoleName>>")]
    roles: Option<Vec<Role>>,
    /// The new tenant.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9._-]{0,63}$"))]
    tenant: Option<String>,
    /// `disabled`, or `active` again; keys made before stay dead.
    #[schemars(with = "Option<StateName>")]
    state: Option<String>,
}

/// The states there are.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum StateName {
    Active,
    Disabled,
}

/// Tells `null` (forget it) from absence (leave it).
fn present<'de, D: serde::Deserializer<'de>>(
    reader: D,
) -> Result<Option<Change<String>>, D::Error> {
    Option::deserialize(reader).map(|value| Some(value.map_or(Change::Forget, Change::To)))
}

impl AccountPatch {
    pub(crate) fn into_amendment(self) -> Result<Amendment, Rejected> {
        let state = match self.state.as_deref() {
            None => None,
            Some(name) => Some(State::named(name).ok_or_else(|| Rejected::Field {
                field: "state",
                rule: "`active` or `disabled`".to_owned(),
            })?),
        };
        Ok(Amendment {
            name: self.name,
            email: self.email,
            roles: self.roles.map(|roles| roles.into_iter().collect()),
            tenant: self.tenant.as_deref().map(Tenant::parse).transpose()?,
            state,
        })
    }
}

/// An account.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountView {
    user_id: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    roles: Vec<String>,
    tenant: String,
    /// `active` or `disabled`.
    state: String,
    created_at: String,
    updated_at: String,
    /// Grows with each change; the same number as in `ETag`.
    version: u64,
}

impl From<&Account> for AccountView {
    fn from(account: &Account) -> Self {
        Self {
            user_id: account.user_id.as_str().to_owned(),
            name: account.profile.name.clone(),
            email: account.profile.email.clone(),
            roles: names(account.roles),
            tenant: account.tenant.as_str().to_owned(),
            state: account.state.name().to_owned(),
            created_at: account.created_at.to_string(),
            updated_at: account.updated_at.to_string(),
            version: account.version,
        }
    }
}

/// A key to create.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyWanted {
    /// A label for people, 1 to 100 characters.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) name: Option<String>,
    /// When it stops working by itself, as RFC 3339.
    expires_at: Option<String>,
    /// Fewer roles than the account has; all of them if left out.
    #[schemars(with = "Option<Vec<RoleName>>")]
    pub(crate) roles: Option<Vec<Role>>,
}

impl KeyWanted {
    pub(crate) fn expires_at(&self) -> Result<Option<Timestamp>, Problem> {
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
pub struct KeyView {
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

impl From<&Key> for KeyView {
    fn from(key: &Key) -> Self {
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
pub struct KeyCreated {
    /// The whole key, `keyId.secret`: shown this once. Absent when a request is repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    #[serde(flatten)]
    pub(crate) details: KeyView,
}

/// One change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditView {
    audit_id: String,
    /// What was done.
    change: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_id: Option<String>,
    /// Who did it.
    by: String,
    at: String,
}

impl From<&Audit> for AuditView {
    fn from(audit: &Audit) -> Self {
        Self {
            audit_id: audit.audit_id.clone(),
            change: audit.change.name().to_owned(),
            key_id: audit.key_id.as_ref().map(|id| id.as_str().to_owned()),
            by: audit.by.as_str().to_owned(),
            at: audit.at.to_string(),
        }
    }
}

/// Which page of a list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    /// `nextCursor` of the page before.
    cursor: Option<String>,
    /// How many at most, 1 to 100; 50 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<i32>,
}

impl PageQuery {
    pub(crate) fn limit(&self) -> Result<i32, Problem> {
        let limit = self.limit.unwrap_or(50);
        if (1..=100).contains(&limit) {
            Ok(limit)
        } else {
            Err(Problem::field("limit", "a number from 1 to 100"))
        }
    }

    /// Where the page starts, if the cursor is one of this list and `is_one` of its positions.
    pub(crate) fn position(
        &self,
        list: &str,
        is_one: impl Fn(&str) -> bool,
    ) -> Result<Option<String>, Problem> {
        let Some(text) = &self.cursor else { return Ok(None) };
        let position = Cursor::position(list, text)?;
        if is_one(&position) { Ok(Some(position)) } else { Err(Cursor::not_one()) }
    }
}

/// A page of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageView<T> {
    pub(crate) items: Vec<T>,
    /// Pass it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

fn names(roles: Roles) -> Vec<String> {
    roles.iter().map(|role| role.name().to_owned()).collect()
}
