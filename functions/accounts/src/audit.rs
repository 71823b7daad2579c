//! What happened to an account, newest first.

use boundary::http::{Answer, Cursor, Request, Response};
use http::StatusCode;

use crate::State;
use crate::view::{AuditView, PageQuery, PageView};

pub(crate) async fn trail(state: &State, request: Request) -> Answer {
    let page: PageQuery = request.query()?;
    let account = state.account_for(&request).await?;
    let list = format!("audit of {}", account.user_id.as_str());
    let after = page.position(&list, |position| (1..=64).contains(&position.len()))?;
    let found = state.accounts.trail(&account.user_id, page.limit()?, after.as_deref()).await?;
    let next_cursor = found.next.map(|next| Cursor::new(&list, &next).as_str().to_owned());
    let items = found.items.iter().map(AuditView::from).collect();
    Ok(Response::json(StatusCode::OK, &PageView { items, next_cursor }))
}
