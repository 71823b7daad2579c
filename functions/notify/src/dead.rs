//! Dead letters: looked through, and sent again.
//!
//! Guarantee: a replay moves each letter once, however often it is repeated under its name.

use boundary::http::{Answer, Cursor, Error, Problem, Request, Response};
use domain::notifications::{
    Class, DeadLetter, Delivery, DeliveryId, Event, LetterFilter, Priority, Remedy,
};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::notifications::Applied;

use crate::State;
use crate::preview::channel;
use crate::view::{AttemptView, WhyView};

const LIST: &str = "dead-letters";

/// Letters in one call at most: the queues take them in at the pace of their providers.
const MOST: usize = 100;

/// Which letters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LettersQuery {
    /// `email`, `sms` or `push`.
    channel: Option<String>,
    /// `invalid-recipient`, `opted-out`, `content`, `rate-limited`, `outage` or `unrecognised`.
    class: Option<String>,
    /// `nextCursor` of the page before.
    cursor: Option<String>,
    /// How many at most, 1 to 100; 50 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
}

/// A page of dead letters. A page may be short and still have a next one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LettersView {
    items: Vec<LetterView>,
    /// Pass it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A delivery that could not be made.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LetterView {
    delivery_id: String,
    notification_id: String,
    user_id: String,
    channel: &'static str,
    category: String,
    priority: &'static str,
    class: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<WhyView>,
    /// What was tried, oldest first.
    attempts: Vec<AttemptView>,
    /// What can be done, or was.
    remedy: &'static str,
    created_at: String,
    failed_at: String,
}

/// What to send again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReplayBody {
    /// Names the replay: each moves a letter once, so that it can be repeated. 1 to 64 printable
    /// characters.
    name: String,
    /// These letters, by `deliveryId`, at most 100; this or a filter.
    delivery_ids: Option<Vec<String>>,
    /// Letters of this channel.
    channel: Option<String>,
    /// Letters of this class.
    class: Option<String>,
    /// `nextCursor` of the call before.
    cursor: Option<String>,
    /// How many at most, 1 to 100; 100 if left out.
    #[schemars(range(min = 1, max = 100))]
    max: Option<usize>,
    /// Only say what would be sent again.
    #[serde(default)]
    dry_run: bool,
}

/// What was sent again.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReplayView {
    dry_run: bool,
    /// By `deliveryId`.
    replayed: Vec<String>,
    /// Moved by this replay before, or ended otherwise since.
    skipped: Vec<String>,
    /// Pass it as `cursor` to go on; absent when there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

pub(crate) async fn list(state: &State, request: Request) -> Answer {
    let query: LettersQuery = request.query()?;
    let limit = within(query.limit.unwrap_or(50), "limit")?;
    let filter = filter(query.channel.as_deref(), query.class.as_deref())?;
    let after = position(query.cursor.as_deref())?;
    let page = state.notifications.dead_letters(&filter, limit, after.as_deref()).await?;
    let view = LettersView {
        items: page.items.iter().map(LetterView::from).collect(),
        next_cursor: page.next.map(|next| Cursor::new(LIST, &next).as_str().to_owned()),
    };
    Ok(Response::json(StatusCode::OK, &view))
}

pub(crate) async fn replay(state: &State, request: Request) -> Answer {
    let body: ReplayBody = request.json()?;
    if !(1..=64).contains(&body.name.len()) || !body.name.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(Problem::field("name", "1 to 64 printable characters").into());
    }
    let (ids, next) = chosen(state, &body).await?;
    let mut view = ReplayView { dry_run: body.dry_run, ..ReplayView::default() };
    view.next_cursor = next.map(|next| Cursor::new(LIST, &next).as_str().to_owned());
    // Each letter counts as a call.
    request.charge(u32::try_from(ids.len()).unwrap_or(u32::MAX).max(1)).await?;
    let mut moved = Vec::new();
    for id in ids {
        match again(state, &request, &id, &body).await? {
            Some(delivery) => {
                view.replayed.push(id.key());
                moved.extend(delivery);
            }
            None => view.skipped.push(id.key()),
        }
    }
    state.announce(&moved, &request).await;
    Ok(Response::json(StatusCode::OK, &view))
}

/// The letters that are meant, and where the next call goes on.
async fn chosen(
    state: &State,
    body: &ReplayBody,
) -> Result<(Vec<DeliveryId>, Option<String>), Error> {
    let Some(ids) = &body.delivery_ids else {
        let max = within(body.max.unwrap_or(MOST), "max")?;
        let filter = filter(body.channel.as_deref(), body.class.as_deref())?;
        let after = position(body.cursor.as_deref())?;
        let page = state.notifications.dead_letters(&filter, max, after.as_deref()).await?;
        return Ok((page.items.into_iter().map(|letter| letter.id).collect(), page.next));
    };
    let filtered = [&body.channel, &body.class, &body.cursor].into_iter().any(Option::is_some);
    if filtered || body.max.is_some() || !(1..=MOST).contains(&ids.len()) {
        return Err(Problem::field("deliveryIds", "1 to 100 ids, and no filter with them").into());
    }
    let wrong = || Problem::field("deliveryIds", "`deliveryId`s of dead letters");
    let mut ids = ids
        .iter()
        .map(|id| DeliveryId::parse(id).ok_or_else(wrong))
        .collect::<Result<Vec<_>, _>>()?;
    ids.sort();
    ids.dedup();
    Ok((ids, None))
}

/// Moves a letter, or says whether it would move: with the delivery as it is, if it has moved.
async fn again(
    state: &State,
    request: &Request,
    id: &DeliveryId,
    body: &ReplayBody,
) -> Result<Option<Option<Delivery>>, Error> {
    use domain::notifications::{Step, transition};
    let event = Event::Replayed { replay: body.name.clone() };
    if body.dry_run {
        let found = state.notifications.delivery(id).await?;
        let would = found.is_some_and(|delivery| {
            matches!(transition(&delivery, &event, request.now), Step::Become(_))
        });
        return Ok(would.then_some(None));
    }
    let token = || state.entropy.token();
    Ok(match state.notifications.apply(id, &event, request.now, token).await? {
        Applied::Changed { after, .. } => Some(Some(*after)),
        Applied::Stays(_) | Applied::Refused(..) | Applied::Unknown => None,
    })
}

fn within(count: usize, field: &str) -> Result<usize, Problem> {
    let fits = (1..=MOST).contains(&count);
    if fits { Ok(count) } else { Err(Problem::field(field, "a number from 1 to 100")) }
}

fn filter(way: Option<&str>, class: Option<&str>) -> Result<LetterFilter, Problem> {
    let known = |name: &str| {
        Class::ALL.into_iter().find(|class| class.name() == name).ok_or_else(|| {
            let names = Class::ALL.map(|class| format!("`{}`", class.name())).join(", ");
            Problem::field("class", format!("one of {names}"))
        })
    };
    Ok(LetterFilter {
        channel: way.map(channel).transpose()?,
        class: class.map(known).transpose()?,
    })
}

fn position(cursor: Option<&str>) -> Result<Option<String>, Problem> {
    cursor.map(|text| Cursor::position(LIST, text)).transpose()
}

impl From<&DeadLetter> for LetterView {
    fn from(letter: &DeadLetter) -> Self {
        Self {
            delivery_id: letter.id.key(),
            notification_id: letter.id.notification_id.as_str().to_owned(),
            user_id: letter.user.as_str().to_owned(),
            channel: letter.id.way.channel().name(),
            category: letter.category.as_str().to_owned(),
            priority: Priority::name(letter.priority),
            class: letter.class.name(),
            why: letter.why.as_ref().map(WhyView::from),
            attempts: letter.attempts.iter().map(AttemptView::from).collect(),
            remedy: Remedy::advice(letter.remedy),
            created_at: letter.created_at.to_string(),
            failed_at: letter.failed_at.to_string(),
        }
    }
}
