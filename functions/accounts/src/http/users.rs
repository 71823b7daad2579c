//! Accounts: create, list, read, amend, disable.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use boundary::http::{
    Call, Caller, Created, Cursor, IdempotencyKey, IfMatch, Json, NoContent, Operation, Path,
    Problem, Query, Repeatable, Result, State, Versioned,
};
use boundary::idempotency::{self, Execution};
use boundary::openapi::{DescribeExtractor, OperationEntry};
use domain::accounts::{
    Account, AccountChange, AccountProfile, AccountState, Amendment, NewAccount, Rejected, Role,
    Tenant, UserId,
};
use http::request::Parts;
use schemars::SchemaGenerator;
use store::accounts::{AccountAmendment, AccountCreation};
use store::idempotency::Ticket;

use super::page::{PageQuery, PageView};
use super::view::{AccountPatch, AccountView, MeView, NewAccountBody};
use super::{Managed, UserPath};
use crate::http::state::App;

/// Others may change an account while it is disabled; more often than this is a conflict.
const MAX_ATTEMPTS: usize = 5;

pub(super) const ME: Operation = Operation::get("/api/v1/me", "readMe", "Who am I?").key();

pub(super) async fn me(caller: Caller) -> Json<MeView> {
    Json(MeView::from(&*caller))
}

pub(super) const CREATE: Operation =
    Operation::post("/api/v1/accounts", "createAccount", "Create an account").role(Role::Admin);

pub(super) async fn create(
    State(app): State<Arc<App>>,
    call: Call,
    key: IdempotencyKey,
    body: Result<Json<NewAccountBody>>,
) -> Result<CreatedAccount> {
    let once = app.accounts.once();
    let ticket = match idempotency::claim(once, &call, &key, CREATE.id, &app.entropy).await? {
        Execution::Run(ticket) => ticket,
        Execution::Replay(answer) => return Ok(Repeatable::again(answer)),
    };
    let outcome = create_once(&app, &call, body, ticket.as_ref()).await;
    idempotency::release_if_refused(once, ticket.as_ref(), outcome).await
}

type CreatedAccount = Repeatable<Versioned<Created<AccountView>>>;

async fn create_once(
    app: &App,
    call: &Call,
    body: Result<Json<NewAccountBody>>,
    ticket: Option<&Ticket>,
) -> Result<CreatedAccount> {
    let Json(body) = body?;
    let new = NewAccount {
        user_id: match &body.user_id {
            Some(chosen) => UserId::parse(chosen)?,
            None => UserId::made_from(app.entropy.bytes()),
        },
        profile: AccountProfile::new(&body.name, body.email.as_deref())?,
        roles: body.roles.into_iter().collect(),
        tenant: body.tenant.as_deref().map(Tenant::parse).transpose()?.unwrap_or_default(),
    };
    let account = Account::create(new, call.now);
    let audit = app.audit(AccountChange::AccountCreated, &account.user_id, call)?;
    let location = format!("/api/v1/accounts/{}", account.user_id.as_str());
    let created = Created { location, body: AccountView::from(&account) };
    let answer = Repeatable::first(&Versioned(account.version, created));
    let kept = ticket.map(|ticket| (ticket, answer.stored()));
    match app.accounts.create(&account, &audit, kept, &app.entropy.token()).await? {
        AccountCreation::Created => {
            app.publish(&audit, call).await;
            Ok(answer)
        }
        AccountCreation::Taken => Err(Rejected::UserIdTaken.into()),
        AccountCreation::ClaimLost => Err(Problem::in_progress(1)),
    }
}

pub(super) const LIST: Operation =
    Operation::get("/api/v1/accounts", "listAccounts", "List accounts")
        .description("By user id. A new account may take a moment to appear.")
        .role(Role::Admin);

pub(super) async fn list(
    State(app): State<Arc<App>>,
    Query(page): Query<PageQuery>,
) -> Result<Json<PageView<AccountView>>> {
    const LIST: &str = "accounts";
    let after = page.position(LIST, |position| UserId::parse(position).is_ok())?;
    let found = app.accounts.list(page.limit()?, after.as_deref()).await?;
    let next_cursor = found.next.map(|next| Cursor::new(LIST, &next).as_str().to_owned());
    let items = found.items.iter().map(AccountView::from).collect();
    Ok(Json(PageView { items, next_cursor }))
}

pub(super) const READ: Operation =
    Operation::get("/api/v1/accounts/{userId}", "readAccount", "Read an account")
        .description("Admins read any account, users their own.")
        .key();

pub(super) async fn read(Managed(account): Managed) -> Versioned<Json<AccountView>> {
    account_response(&account)
}

pub(super) const AMEND: Operation =
    Operation::patch("/api/v1/accounts/{userId}", "amendAccount", "Change an account")
        .description("Admins change anything, users their own name.")
        .key()
        .refuses(&[403, 409]);

pub(super) async fn amend(
    State(app): State<Arc<App>>,
    call: Call,
    IfMatch(version): IfMatch,
    AmendmentBody(amendment): AmendmentBody,
    Managed(account): Managed,
) -> Result<Versioned<Json<AccountView>>> {
    if account.version != version {
        return Err(Rejected::Moved.into());
    }
    let next = apply(&app, &account, &amendment, &call).await?;
    Ok(account_response(&next))
}

pub(super) const DISABLE: Operation =
    Operation::delete("/api/v1/accounts/{userId}", "disableAccount", "Disable an account")
        .description("Its keys stop within 60 seconds and never work again. The last admin stays.")
        .role(Role::Admin)
        .refuses(&[404, 409]);

/// Disabling is the same for any version, so there is no `If-Match`; a lost race is run again.
pub(super) async fn disable(
    State(app): State<Arc<App>>,
    call: Call,
    Path(user_id): Path<UserPath>,
) -> Result<NoContent> {
    let amendment = Amendment { state: Some(AccountState::Disabled), ..Amendment::default() };
    for _ in 0..MAX_ATTEMPTS {
        let account = app.managed(&user_id, &call).await?;
        if account.state == AccountState::Disabled {
            return Ok(NoContent);
        }
        match apply(&app, &account, &amendment, &call).await {
            Ok(_) => return Ok(NoContent),
            Err(problem) if problem == Problem::version_mismatch() => {}
            Err(problem) => return Err(problem),
        }
    }
    Err(Problem::conflict("The account keeps changing; try again."))
}

/// What the body asks to be changed. It is checked before the account is looked for.
pub(super) struct AmendmentBody(Amendment);

impl FromRequestParts<Arc<App>> for AmendmentBody {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self> {
        let patch = <Json<AccountPatch> as FromRequestParts<Arc<App>>>::from_request_parts;
        let Json(patch) = patch(parts, app).await?;
        Ok(Self(patch.into_amendment()?))
    }
}

impl DescribeExtractor for AmendmentBody {
    fn describe(entry: &mut OperationEntry, schemas: &mut SchemaGenerator) {
        <Json<AccountPatch> as DescribeExtractor>::describe(entry, schemas);
    }
}

fn account_response(account: &Account) -> Versioned<Json<AccountView>> {
    Versioned(account.version, Json(AccountView::from(account)))
}

async fn apply(
    app: &App,
    account: &Account,
    amendment: &Amendment,
    call: &Call,
) -> Result<Account> {
    let next = account.amend(amendment, call.caller()?.is_admin(), call.now)?;
    let disabled = account.state == AccountState::Active && next.state == AccountState::Disabled;
    let change =
        if disabled { AccountChange::AccountDisabled } else { AccountChange::AccountAmended };
    let audit = app.audit(change, &account.user_id, call)?;
    match app.accounts.amend(account, &next, &audit, &app.entropy.token()).await? {
        AccountAmendment::Amended => {
            app.publish(&audit, call).await;
            Ok(next)
        }
        AccountAmendment::Moved => Err(Rejected::Moved.into()),
        AccountAmendment::LastAdmin => Err(Rejected::LastAdmin.into()),
    }
}
