//! How accounts, keys and audit rows are laid out.

use aws_sdk_dynamodb::types::AttributeValue;
use domain::Result;
use domain::accounts::{
    Account, AccountChange, AccountProfile, AccountState, ApiKey, AuditEntry, KeyId, Role, Roles,
    SecretHash, Tenant, UserId,
};

use crate::row::{Builder, Item, ItemReader, broken, bytes, instant, key, number, text};
use crate::schema::{GSI1_PK, GSI1_SK};

/// Partition of `gsi1` that lists every account by user id.
pub(super) const ALL_ACCOUNTS: &str = "accounts";
/// Partition of `gsi1` that holds audit rows whose event is still to be published.
pub(super) const UNPUBLISHED: &str = "unpublished";

pub(super) fn account_key(user_id: &UserId) -> Item {
    key(&user_pk(user_id), "account")
}

pub(super) fn user_pk(user_id: &UserId) -> String {
    format!("user#{}", user_id.as_str())
}

pub(super) fn key_key(key_id: &KeyId) -> Item {
    key(&format!("key#{}", key_id.as_str()), "key")
}

pub(super) fn keys_of(user_id: &UserId) -> String {
    format!("keys#{}", user_id.as_str())
}

pub(super) fn account(account: &Account) -> Item {
    Builder::keyed(&user_pk(&account.user_id), "account")
        .with(GSI1_PK, text(ALL_ACCOUNTS))
        .with(GSI1_SK, text(account.user_id.as_str()))
        .with("user_id", text(account.user_id.as_str()))
        .with("display_name", text(&account.profile.name))
        .with_some("email", account.profile.email.as_ref().map(text))
        .with_some("roles", roles(account.roles))
        .with("tenant", text(account.tenant.as_str()))
        .with("account_state", text(account.state.name()))
        .with("created_at", instant(account.created_at))
        .with("updated_at", instant(account.updated_at))
        .with("key_epoch", number(account.key_epoch))
        .with("v", number(account.version))
        .build()
}

pub(super) fn read_account(item: &Item) -> Result<Account> {
    let row = ItemReader(item);
    let tenant = Tenant::parse(row.text("tenant")?).map_err(|_| broken("tenant"))?;
    Ok(Account {
        user_id: UserId::parse(row.text("user_id")?).map_err(|_| broken("user_id"))?,
        profile: AccountProfile {
            name: row.text("display_name")?.to_owned(),
            email: row.maybe_text("email").map(str::to_owned),
        },
        roles: read_roles(row, "roles"),
        tenant,
        state: AccountState::from_name(row.text("account_state")?)
            .ok_or_else(|| broken("account_state"))?,
        created_at: row.instant("created_at")?,
        updated_at: row.instant("updated_at")?,
        key_epoch: row.number("key_epoch")?,
        version: row.number("v")?,
    })
}

pub(super) fn api_key(key: &ApiKey) -> Item {
    let mut row = Builder::keyed(&format!("key#{}", key.key_id.as_str()), "key")
        .with(GSI1_PK, text(keys_of(&key.user_id)))
        .with(GSI1_SK, text(key_order(key)))
        .with("key_id", text(key.key_id.as_str()))
        .with("user_id", text(key.user_id.as_str()))
        .with_some("key_name", key.name.as_ref().map(text))
        .with("secret_hash", bytes(key.hash.as_bytes()))
        .with("epoch", number(key.epoch))
        .with("created_at", instant(key.created_at))
        .with_some("expires_at", key.expires_at.map(instant));
    if let Some(narrowed) = key.roles {
        // DynamoDB has no empty set, so a key without any role says so in words.
        row = row.with("narrowed", AttributeValue::Bool(true)).with_some("roles", roles(narrowed));
    }
    row.build()
}

/// Keys are listed by age; the id keeps two of one millisecond apart.
pub(super) fn key_order(key: &ApiKey) -> String {
    format!("{:013}#{}", key.created_at.as_millisecond(), key.key_id.as_str())
}

pub(super) fn read_key(item: &Item) -> Result<ApiKey> {
    let row = ItemReader(item);
    let hash = row.bytes("secret_hash")?.try_into().map_err(|_| broken("secret_hash"))?;
    Ok(ApiKey {
        key_id: KeyId::parse(row.text("key_id")?).ok_or_else(|| broken("key_id"))?,
        user_id: UserId::parse(row.text("user_id")?).map_err(|_| broken("user_id"))?,
        name: row.maybe_text("key_name").map(str::to_owned),
        hash: SecretHash::from_bytes(hash),
        roles: item.contains_key("narrowed").then(|| read_roles(row, "roles")),
        epoch: row.number("epoch")?,
        created_at: row.instant("created_at")?,
        expires_at: row.maybe_instant("expires_at"),
        revoked_at: row.maybe_instant("revoked_at"),
        last_used_at: row.maybe_instant("last_used_at"),
    })
}

pub(super) fn audit(audit: &AuditEntry) -> Item {
    Builder::keyed(&user_pk(&audit.user_id), &audit_sk(&audit.audit_id))
        .with(GSI1_PK, text(UNPUBLISHED))
        .with(GSI1_SK, text(&audit.audit_id))
        .with("audit_id", text(&audit.audit_id))
        .with("user_id", text(audit.user_id.as_str()))
        .with("change", text(audit.change.name()))
        .with_some("key_id", audit.key_id.as_ref().map(|id| text(id.as_str())))
        .with("done_by", text(audit.by.as_str()))
        .with("done_at", instant(audit.at))
        .build()
}

pub(super) fn audit_sk(audit_id: &str) -> String {
    format!("audit#{audit_id}")
}

pub(super) fn read_audit(item: &Item) -> Result<AuditEntry> {
    let row = ItemReader(item);
    Ok(AuditEntry {
        audit_id: row.text("audit_id")?.to_owned(),
        user_id: UserId::parse(row.text("user_id")?).map_err(|_| broken("user_id"))?,
        change: AccountChange::from_name(row.text("change")?).ok_or_else(|| broken("change"))?,
        key_id: row.maybe_text("key_id").and_then(KeyId::parse),
        by: UserId::outside(row.text("done_by")?),
        at: row.instant("done_at")?,
    })
}

fn roles(roles: Roles) -> Option<AttributeValue> {
    let names: Vec<_> = roles.iter().map(|role| role.name().to_owned()).collect();
    (!names.is_empty()).then_some(AttributeValue::Ss(names))
}

fn read_roles(row: ItemReader<'_>, name: &str) -> Roles {
    row.texts(name).iter().filter_map(|name| Role::from_name(name)).collect()
}
