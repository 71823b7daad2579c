//! Accounts as callers write and see them.

use domain::accounts::{
    Account, AccountState, Amendment, NewValue, Principal, Rejected, Role, Roles, Tenant,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The caller, as the service knows them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MeView {
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
pub(crate) struct NewAccountBody {
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
pub(crate) struct AccountPatch {
    /// 1 to 100 characters; the one thing users may change about themselves.
    #[schemars(length(min = 1, max = 100))]
    name: Option<String>,
    /// A new address, or null to forget it.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<String>")]
    email: Option<NewValue<String>>,
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
) -> Result<Option<NewValue<String>>, D::Error> {
    Option::deserialize(reader).map(|value| Some(value.map_or(NewValue::Forget, NewValue::To)))
}

impl AccountPatch {
    pub(crate) fn into_amendment(self) -> Result<Amendment, Rejected> {
        let state = match self.state.as_deref() {
            None => None,
            Some(name) => Some(AccountState::from_name(name).ok_or_else(|| Rejected::Field {
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
pub(crate) struct AccountView {
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

/// Roles as callers see them.
pub(crate) fn names(roles: Roles) -> Vec<String> {
    roles.iter().map(|role| role.name().to_owned()).collect()
}
