//! Accepting: one transaction and one publish for one person, as many as it takes for many.
//!
//! The idempotency row of one person's notification is written in its own transaction. For many people
//! the key is claimed first, and ids are derived from it, so that a repeat of a call that was cut off
//! writes what is missing and nothing else.

use boundary::http::{Answer, Error, Problem, Request, Response};
use boundary::idempotency;
use boundary::telemetry::{Unit, measure, measure_of};
use domain::accounts::UserId;
use domain::hex;
use domain::notifications::{Delivery, NotificationId, Submission};
use futures::{StreamExt, TryStreamExt, stream};
use http::{StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;
use store::idempotency::{Claim, Request as Once};
use store::notifications::{Accept, Accepted};

use crate::State;
use crate::body::NewNotification;
use crate::plan::{Planned, Words};
use crate::view::standing;

/// People who are read at the same time.
const AT_ONCE: usize = 16;

/// The name of the operation, as repeats are told apart by it.
const OPERATION: &str = "sendNotification";

/// What was accepted.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AcceptedView {
    /// One for each person, in the order they were named.
    notifications: Vec<AcceptedOne>,
}

/// A notification that was accepted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AcceptedOne {
    notification_id: String,
    user_id: String,
    /// `pending`; `suppressed` if the person wants none of it; `unreachable` if they have no address
    /// on any of the channels. `GET /api/v1/notifications/{notificationId}` says why.
    status: &'static str,
}

/// A key that a repeat is recognised by, and what it stands for.
struct Key {
    text: String,
    fingerprint: [u8; 32],
}

pub(crate) async fn accept(state: &State, request: Request) -> Answer {
    let new: NewNotification = request.json()?;
    let key = key(&request, new.idempotency_key.as_deref())?;
    let submission = new.wanted().checked(request.now).map_err(Error::from);
    let checked = match submission {
        Ok(submission) => {
            let words = Words::of(&submission, state, request.now).await;
            words.map(|words| (submission, words))
        }
        Err(error) => Err(error),
    };
    let (submission, words) = match (checked, &key) {
        (Ok(checked), _) => checked,
        (Err(error), Some(key)) => return remembered(state, &request, key, error).await,
        (Err(error), None) => return Err(error),
    };
    match submission.users.as_slice() {
        [user] => one(state, &request, &submission, &words, user, key.as_ref()).await,
        _ => many(state, &request, &submission, &words, key.as_ref()).await,
    }
}

/// A call that can't be accepted any more, because its time or its template has gone, may have been:
/// then the first answer stands.
async fn remembered(state: &State, request: &Request, key: &Key, error: Error) -> Answer {
    if matches!(error, Error::Failure(_)) {
        return Err(error);
    }
    let caller = request.caller()?.user_id.clone();
    let claimant = state.entropy.token();
    let claim = once(key, &caller, &claimant, request);
    match state.notifications.once().claim(&claim, request.now).await? {
        Claim::Won(ticket) => {
            idempotency::settle(state.notifications.once(), Some(&ticket), Err(error)).await
        }
        before @ (Claim::Answered(_) | Claim::Running(_) | Claim::Mismatch) => {
            idempotency::met(before, request.now)
        }
    }
}

fn key(request: &Request, in_body: Option<&str>) -> Result<Option<Key>, Problem> {
    let text = match (request.idempotency_key()?, in_body) {
        (Some(header), _) => header,
        (None, Some(text)) => text,
        (None, None) => return Ok(None),
    };
    if !(1..=255).contains(&text.len()) || !text.bytes().all(|b| b.is_ascii_graphic()) {
        let rule = "1 to 255 printable ASCII characters, no spaces";
        return Err(Problem::field("idempotencyKey", rule));
    }
    let fingerprint = idempotency::digest(&request.path, &request.body);
    Ok(Some(Key { text: text.to_owned(), fingerprint }))
}

async fn one(
    state: &State,
    request: &Request,
    submission: &Submission,
    words: &Words,
    user: &UserId,
    key: Option<&Key>,
) -> Answer {
    let caller = &request.caller()?.user_id;
    let person = state.notifications.person(user).await?;
    let id = NotificationId::made_from(request.now, state.entropy.bytes());
    let notification = submission.notification(id, user, words.version(), caller, request.now);
    let planned = Planned::of(notification, submission, words, &person, request.now);
    let response = answer(std::slice::from_ref(&planned));
    let claimant = state.entropy.token();
    let once = key.map(|key| once(key, caller, &claimant, request));
    let kept = idempotency::kept(&response, response.text().into_bytes());
    let wanted = planned.wanted();
    let once = once.as_ref().map(|once| (once, &kept));
    match state.notifications.accept(wanted, once, request.now, &state.entropy.token()).await? {
        Accepted::Before(claim) => idempotency::met(claim, request.now),
        Accepted::Created | Accepted::There => {
            count(submission, 1);
            state.announce(&planned.deliveries, request).await;
            Ok(response)
        }
    }
}

async fn many(
    state: &State,
    request: &Request,
    submission: &Submission,
    words: &Words,
    key: Option<&Key>,
) -> Answer {
    let Some(key) = key else {
        return write(state, request, submission, words, None).await;
    };
    let caller = request.caller()?.user_id.clone();
    let claimant = state.entropy.token();
    let claim = once(key, &caller, &claimant, request);
    let ticket = match state.notifications.once().claim(&claim, request.now).await? {
        Claim::Won(ticket) => ticket,
        before @ (Claim::Answered(_) | Claim::Running(_) | Claim::Mismatch) => {
            return idempotency::met(before, request.now);
        }
    };
    let written = write(state, request, submission, words, Some(key)).await;
    let once = state.notifications.once();
    let response = idempotency::settle(once, Some(&ticket), written).await?;
    let kept = idempotency::kept(&response, response.text().into_bytes());
    once.keep(&ticket, &kept, &state.entropy.token()).await?;
    Ok(response)
}

async fn write(
    state: &State,
    request: &Request,
    submission: &Submission,
    words: &Words,
    key: Option<&Key>,
) -> Answer {
    let caller = &request.caller()?.user_id;
    let plan = |user: &UserId| {
        // Another body under a key that was forgotten is another call.
        let id = key.map_or_else(
            || NotificationId::made_from(request.now, state.entropy.bytes()),
            |key| {
                let call = format!("{}#{}", key.text, hex(&key.fingerprint));
                NotificationId::derived(caller, &call, user)
            },
        );
        let user = user.clone();
        async move {
            let person = state.notifications.person(&user).await?;
            let notification =
                submission.notification(id, &user, words.version(), caller, request.now);
            Ok::<_, Error>(Planned::of(notification, submission, words, &person, request.now))
        }
    };
    let plans: Vec<_> = submission.users.iter().map(plan).collect();
    let planned: Vec<Planned> = stream::iter(plans).buffered(AT_ONCE).try_collect().await?;
    let wanted: Vec<Accept<'_>> = planned.iter().map(Planned::wanted).collect();
    let token = || state.entropy.token();
    let part = state.notifications.accept_part(&wanted, request.now, token).await?;
    count(submission, part.created.len());
    let new = planned.iter().filter(|it| part.created.contains(&it.notification.id));
    let deliveries: Vec<Delivery> = new.flat_map(|it| it.deliveries.clone()).collect();
    state.announce(&deliveries, request).await;
    Ok(answer(&planned))
}

fn once<'a>(key: &'a Key, caller: &'a UserId, claimant: &'a str, request: &Request) -> Once<'a> {
    Once {
        caller: caller.as_str(),
        operation: OPERATION,
        key: &key.text,
        fingerprint: key.fingerprint,
        claimant,
        deadline: request.deadline,
    }
}

fn answer(planned: &[Planned]) -> Response {
    let view = |it: &Planned| AcceptedOne {
        notification_id: it.notification.id.as_str().to_owned(),
        user_id: it.notification.user.as_str().to_owned(),
        status: standing(&it.deliveries),
    };
    let notifications: Vec<AcceptedOne> = planned.iter().map(view).collect();
    let location = match notifications.as_slice() {
        [one] => Some(format!("/api/v1/notifications/{}", one.notification_id)),
        _ => None,
    };
    let response = Response::json(StatusCode::ACCEPTED, &AcceptedView { notifications });
    match location {
        Some(location) => response.with_text(header::LOCATION, &location),
        None => response,
    }
}

fn count(submission: &Submission, accepted: usize) {
    let accepted = u32::try_from(accepted).unwrap_or(u32::MAX);
    measure("NotificationsAccepted", Unit::Count, accepted.into());
    let dimensions = vec![("Priority", submission.priority.name().to_owned())];
    measure_of("NotificationsAccepted", Unit::Count, accepted.into(), dimensions);
}
