//! Keeps key rows in order: when a key was last used, and which keys a disabled account had.
//!
//! Trigger: the queues `key-uses` and `retire-keys` (from the topic `account-events`). Effect:
//! `last_used_at` only grows; keys of a disabled account are marked revoked and expire in 30 days.
//! Guarantee: none of it decides whether a key works (the account's row does), so a message that is
//! late, doubled or reordered changes nothing.

use boundary::batch::{Consumer, ReceivedMessage, Unhandled};
use boundary::{Host, Misconfigured};
use domain::accounts::{AccountMessage, AccountState, KeyId, UserId};
use store::Accounts;

/// What the handler shares between messages.
#[derive(Debug)]
pub struct State {
    accounts: Accounts,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Consumer<State>, Misconfigured> {
    let state = State { accounts: host.accounts()? };
    Consumer::new(host, "tendKeys", "TEND_KEYS_DEAD_LETTERS", state, |state, message| {
        Box::pin(apply(state, message))
    })
}

async fn apply(state: &State, message: &ReceivedMessage) -> Result<(), Unhandled> {
    let decoded = serde_json::from_str(&message.body).map_err(|error: serde_json::Error| {
        // What serde quotes of the body stays out of logs and attributes; the place is enough.
        let (line, column) = (error.line(), error.column());
        Unhandled::Unreadable(format!("not an account message: line {line}, column {column}"))
    })?;
    match decoded {
        AccountMessage::KeyUsed(used) => {
            let key_id = KeyId::parse(&used.key_id)
                .ok_or_else(|| Unhandled::Unreadable("`keyId` is not a key id".to_owned()))?;
            Ok(state.accounts.record_key_use(&key_id, used.hour).await?)
        }
        AccountMessage::AccountChanged(changed) => {
            let user_id = UserId::parse(&changed.user_id)
                .map_err(|rejected| Unhandled::Unreadable(rejected.to_string()))?;
            retire(state, &user_id).await
        }
    }
}

/// Marks the keys of an account whose row says that it is disabled; the message does not decide it.
async fn retire(state: &State, user_id: &UserId) -> Result<(), Unhandled> {
    let Some(account) = state.accounts.find(user_id).await? else { return Ok(()) };
    if account.state != AccountState::Disabled {
        return Ok(());
    }
    let mut after = None;
    loop {
        let page = state.accounts.list_keys(user_id, 100, after.as_deref()).await?;
        for key in page.items.iter().filter(|key| key.revoked_at.is_none()) {
            state.accounts.retire_key(&key.key_id, account.key_epoch, account.updated_at).await?;
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}
