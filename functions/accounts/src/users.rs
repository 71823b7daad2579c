//! Accounts: create, list, read, amend, disable.

use boundary::http::{Answer, Cursor, Error, Problem, Request, Response};
use boundary::idempotency::{self, Turn};
use domain::accounts::{
    Account, Amendment, Audit, Change, NewAccount, Profile, Rejected, State as AccountState,
    Tenant, UserId,
};
use http::{StatusCode, header};
use store::accounts::{Amended, Created};
use store::idempotency::Ticket;

use crate::State;
use crate::view::{AccountPatch, AccountView, MeView, NewAccountBody, PageQuery, PageView};

pub(crate) async fn me(_: &State, request: Request) -> Answer {
    Ok(Response::json(StatusCode::OK, &MeView::from(request.caller()?)))
}

pub(crate) async fn create(state: &State, request: Request) -> Answer {
    let once = state.accounts.once();
    let ticket = match idempotency::begin(once, &request, "createAccount", &state.entropy).await? {
        Turn::Run(ticket) => ticket,
        Turn::Repeat(answer) => return Ok(answer),
    };
    let outcome = create_once(state, &request, ticket.as_ref()).await;
    idempotency::settle(once, ticket.as_ref(), outcome).await
}

async fn create_once(state: &State, request: &Request, ticket: Option<&Ticket>) -> Answer {
    let body: NewAccountBody = request.json()?;
    let new = NewAccount {
        user_id: match &body.user_id {
            Some(chosen) => UserId::parse(chosen)?,
            None => UserId::made_from(state.entropy.bytes()),
        },
        profile: Profile::new(&body.name, body.email.as_deref())?,
        roles: body.roles.into_iter().collect(),
        tenant: body.tenant.as_deref().map(Tenant::parse).transpose()?.unwrap_or_default(),
    };
    let account = Account::create(new, request.now);
    let audit = state.audit(Change::AccountCreated, &account.user_id, request)?;
    let response = Response::json(StatusCode::CREATED, &AccountView::from(&account))
        .with_version(account.version)
        .with_text(header::LOCATION, &format!("/api/v1/accounts/{}", account.user_id.as_str()));
    let kept = idempotency::kept(&response, response.text().into_bytes());
    let answer = ticket.map(|ticket| (ticket, &kept));
    match state.accounts.create(&account, &audit, answer, &state.entropy.token()).await? {
        Created::Created => {
            state.announce(&audit, request).await;
            Ok(response)
        }
        Created::Taken => Err(Rejected::UserIdTaken.into()),
        Created::ClaimLost => Err(Problem::in_progress(1).into()),
    }
}

pub(crate) async fn list(state: &State, request: Request) -> Answer {
    const LIST: &str = "accounts";
    let page: PageQuery = request.query()?;
    let after = page.position(LIST, |position| UserId::parse(position).is_ok())?;
    let found = state.accounts.list(page.limit()?, after.as_deref()).await?;
    let next_cursor = found.next.map(|next| Cursor::new(LIST, &next).as_str().to_owned());
    let items = found.items.iter().map(AccountView::from).collect();
    Ok(Response::json(StatusCode::OK, &PageView { items, next_cursor }))
}

pub(crate) async fn read(state: &State, request: Request) -> Answer {
    let account = state.account_for(&request).await?;
    Ok(Response::json(StatusCode::OK, &AccountView::from(&account)).with_version(account.version))
}

pub(crate) async fn amend(state: &State, request: Request) -> Answer {
    let version = request.if_match()?;
    let patch: AccountPatch = request.json()?;
    let amendment = patch.into_amendment()?;
    let account = state.account_for(&request).await?;
    if account.version != version {
        return Err(Rejected::Moved.into());
    }
    let next = state.apply(&account, &amendment, &request).await?;
    Ok(Response::json(StatusCode::OK, &AccountView::from(&next)).with_version(next.version))
}

/// Disabling is the same for any version, so there is no `If-Match`; a lost race is run again.
pub(crate) async fn disable(state: &State, request: Request) -> Answer {
    let amendment = Amendment { state: Some(AccountState::Disabled), ..Amendment::default() };
    for _ in 0..5 {
        let account = state.account_for(&request).await?;
        if account.state == AccountState::Disabled {
            return Ok(Response::empty(StatusCode::NO_CONTENT));
        }
        match state.apply(&account, &amendment, &request).await {
            Ok(_) => return Ok(Response::empty(StatusCode::NO_CONTENT)),
            Err(Error::Problem(problem)) if problem == Problem::moved() => {}
            Err(error) => return Err(error),
        }
    }
    Err(Problem::conflict("The account keeps changing; try again.").into())
}

impl State {
    /// The account in the path. Someone else's is not found, so that ids can't be probed.
    pub(crate) async fn account_for(&self, request: &Request) -> Result<Account, Error> {
        let user_id =
            UserId::parse(request.param("userId")).map_err(|_| Rejected::UnknownAccount)?;
        if !request.caller()?.may_manage(&user_id) {
            return Err(Rejected::UnknownAccount.into());
        }
        let found = self.accounts.find(&user_id).await?;
        found.ok_or_else(|| Rejected::UnknownAccount.into())
    }

    /// An audit row for a change that the caller is making now.
    pub(crate) fn audit(
        &self,
        change: Change,
        user_id: &UserId,
        request: &Request,
    ) -> Result<Audit, Problem> {
        let by = &request.caller()?.user_id;
        Ok(Audit::new(change, user_id, None, by, request.now, self.entropy.bytes()))
    }

    async fn apply(
        &self,
        account: &Account,
        amendment: &Amendment,
        request: &Request,
    ) -> Result<Account, Error> {
        let next = account.amend(amendment, request.caller()?.is_admin(), request.now)?;
        let disabled =
            account.state == AccountState::Active && next.state == AccountState::Disabled;
        let change = if disabled { Change::AccountDisabled } else { Change::AccountAmended };
        let audit = self.audit(change, &account.user_id, request)?;
        match self.accounts.amend(account, &next, &audit, &self.entropy.token()).await? {
            Amended::Amended => {
                self.announce(&audit, request).await;
                Ok(next)
            }
            Amended::Moved => Err(Rejected::Moved.into()),
            Amended::LastAdmin => Err(Rejected::LastAdmin.into()),
        }
    }
}
