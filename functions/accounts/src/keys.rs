//! API keys: create, list, revoke.

use boundary::http::{Answer, Cursor, Problem, Request, Response};
use boundary::idempotency::{self, Turn};
use domain::accounts::{ApiKey, Audit, Change, Key, KeyId, NewKey, Rejected};
use http::{StatusCode, header};
use store::accounts::{CreatedKey, RevokedKey};
use store::idempotency::Ticket;

use crate::State;
use crate::view::{KeyCreated, KeyView, KeyWanted, PageQuery, PageView};

pub(crate) async fn create(state: &State, request: Request) -> Answer {
    let once = state.accounts.once();
    let ticket = match idempotency::begin(once, &request, "createKey", &state.entropy).await? {
        Turn::Run(ticket) => ticket,
        Turn::Repeat(answer) => return Ok(answer),
    };
    let outcome = create_once(state, &request, ticket.as_ref()).await;
    idempotency::settle(once, ticket.as_ref(), outcome).await
}

async fn create_once(state: &State, request: &Request, ticket: Option<&Ticket>) -> Answer {
    let wanted: KeyWanted = request.json_or_default()?;
    let account = state.account_for(request).await?;
    let (api_key, text) = ApiKey::made_from(state.entropy.bytes(), state.entropy.bytes());
    let new = NewKey {
        name: wanted.name.clone(),
        expires_at: wanted.expires_at()?,
        roles: wanted.roles.map(|roles| roles.into_iter().collect()),
    };
    let key = Key::create(&account, &api_key, &new, request.caller()?, request.now)?;
    let audit = Audit {
        key_id: Some(key.key_id.clone()),
        ..state.audit(Change::KeyCreated, &key.user_id, request)?
    };
    let user = account.user_id.as_str();
    let path = format!("/api/v1/accounts/{user}/keys/{}", key.key_id.as_str());
    let mut created = KeyCreated { key: Some(text), details: KeyView::from(&key) };
    let response = Response::json(StatusCode::CREATED, &created).with_text(header::LOCATION, &path);
    // A repeated request gets the same answer without the secret, which is kept nowhere.
    created.key = None;
    let without_secret = Response::json(StatusCode::CREATED, &created);
    let kept = idempotency::kept(&response, without_secret.text().into_bytes());
    let answer = ticket.map(|ticket| (ticket, &kept));
    match state.accounts.create_key(&key, &audit, answer, &state.entropy.token()).await? {
        CreatedKey::Created => {
            state.announce(&audit, request).await;
            Ok(response)
        }
        CreatedKey::AccountDisabled => Err(Rejected::AccountDisabled.into()),
        CreatedKey::ClaimLost => Err(Problem::in_progress(1).into()),
    }
}

pub(crate) async fn list(state: &State, request: Request) -> Answer {
    let page: PageQuery = request.query()?;
    let account = state.account_for(&request).await?;
    let list = format!("keys of {}", account.user_id.as_str());
    let after = page.position(&list, is_order)?;
    let found = state.accounts.list_keys(&account.user_id, page.limit()?, after.as_deref()).await?;
    let next_cursor = found.next.map(|next| Cursor::new(&list, &next).as_str().to_owned());
    let items = found.items.iter().map(KeyView::from).collect();
    Ok(Response::json(StatusCode::OK, &PageView { items, next_cursor }))
}

/// Keys are listed by age: milliseconds, then the key's id.
fn is_order(position: &str) -> bool {
    position.split_once('#').is_some_and(|(age, id)| {
        age.len() == 13 && age.bytes().all(|b| b.is_ascii_digit()) && KeyId::parse(id).is_some()
    })
}

/// Revoking what is revoked changes nothing and says so in the same words.
pub(crate) async fn revoke(state: &State, request: Request) -> Answer {
    let account = state.account_for(&request).await?;
    let key_id = KeyId::parse(request.param("keyId")).ok_or(Rejected::UnknownKey)?;
    let audit = Audit {
        key_id: Some(key_id.clone()),
        ..state.audit(Change::KeyRevoked, &account.user_id, &request)?
    };
    let token = state.entropy.token();
    match state.accounts.revoke_key(&account.user_id, &key_id, &audit, &token).await? {
        RevokedKey::Revoked => {
            state.announce(&audit, &request).await;
            Ok(Response::empty(StatusCode::NO_CONTENT))
        }
        RevokedKey::Already => Ok(Response::empty(StatusCode::NO_CONTENT)),
        RevokedKey::Unknown => Err(Rejected::UnknownKey.into()),
    }
}
