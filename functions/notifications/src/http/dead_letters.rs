//! Dead letters: looked through, and sent again.
//!
//! Guarantee: a replay moves each letter once, however often it is repeated under its name.

mod view;

use std::sync::Arc;

use crate::store::ApplyOutcome;
use boundary::http::{Call, Cursor, Json, Operation, Problem, Query, Result, State};
use domain::accounts::Role;
use domain::notifications::{
    Class, DeadLetterFilter, Delivery, DeliveryId, Event, Transition, transition,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::preview::parse_channel;
use crate::http::state::App;

use view::DeadLetterView;

/// The list, as its cursors name it.
const CURSOR_LIST: &str = "dead-letters";

/// Letters in one call at most: the queues take them in at the pace of their providers.
const MAX_DEAD_LETTERS: usize = 100;

/// Which letters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeadLettersQuery {
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
pub(crate) struct DeadLettersView {
    items: Vec<DeadLetterView>,
    /// Pass it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
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

pub(super) const LIST: Operation =
    Operation::get("/api/v1/dead-letters", "listDeadLetters", "List dead letters")
        .description("Deliveries that were given up, newest first, with what can be done.")
        .role(Role::Notifier);

pub(super) async fn list(
    State(app): State<Arc<App>>,
    Query(query): Query<DeadLettersQuery>,
) -> Result<Json<DeadLettersView>> {
    let limit = check_count(query.limit.unwrap_or(50), "limit")?;
    let filter = filter(query.channel.as_deref(), query.class.as_deref())?;
    let after = position(query.cursor.as_deref())?;
    let page = app.notifications.dead_letters(&filter, limit, after.as_deref()).await?;
    Ok(Json(DeadLettersView {
        items: page.items.iter().map(DeadLetterView::from).collect(),
        next_cursor: page.next.map(|next| Cursor::new(CURSOR_LIST, &next).as_str().to_owned()),
    }))
}

pub(super) const REPLAY: Operation = Operation::post(
    "/api/v1/dead-letters/replay",
    "replayDeadLetters",
    "Send dead letters again",
)
.description(
    "By id or by filter, at most 100 in a call, each counting as a call. A replay moves each letter \
     once, so it can be repeated under its name.",
)
.role(Role::Notifier)
.charges_itself();

pub(super) async fn replay(
    State(app): State<Arc<App>>,
    call: Call,
    Json(body): Json<ReplayBody>,
) -> Result<Json<ReplayView>> {
    if !(1..=64).contains(&body.name.len()) || !body.name.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(Problem::field("name", "1 to 64 printable characters"));
    }
    let (ids, next) = select(&app, &body).await?;
    let mut view = ReplayView { dry_run: body.dry_run, ..ReplayView::default() };
    view.next_cursor = next.map(|next| Cursor::new(CURSOR_LIST, &next).as_str().to_owned());
    // Each letter counts as a call.
    call.charge(u32::try_from(ids.len()).unwrap_or(u32::MAX).max(1)).await?;
    let mut moved = Vec::new();
    for id in ids {
        match replay_one(&app, &call, &id, &body).await? {
            Some(delivery) => {
                view.replayed.push(id.key());
                moved.extend(delivery);
            }
            None => view.skipped.push(id.key()),
        }
    }
    app.enqueue(&moved, &call).await;
    Ok(Json(view))
}

/// The letters that are meant, and where the next call goes on.
async fn select(app: &App, body: &ReplayBody) -> Result<(Vec<DeliveryId>, Option<String>)> {
    let Some(ids) = &body.delivery_ids else {
        let max = check_count(body.max.unwrap_or(MAX_DEAD_LETTERS), "max")?;
        let filter = filter(body.channel.as_deref(), body.class.as_deref())?;
        let after = position(body.cursor.as_deref())?;
        let page = app.notifications.dead_letters(&filter, max, after.as_deref()).await?;
        return Ok((page.items.into_iter().map(|view| view.id).collect(), page.next));
    };
    let filtered = [&body.channel, &body.class, &body.cursor].into_iter().any(Option::is_some);
    if filtered || body.max.is_some() || !(1..=MAX_DEAD_LETTERS).contains(&ids.len()) {
        return Err(Problem::field("deliveryIds", "1 to 100 ids, and no filter with them"));
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
async fn replay_one(
    app: &App,
    call: &Call,
    id: &DeliveryId,
    body: &ReplayBody,
) -> Result<Option<Option<Delivery>>> {
    let event = Event::Replayed { replay: body.name.clone() };
    if body.dry_run {
        let found = app.notifications.delivery(id).await?;
        let would = found.is_some_and(|delivery| {
            matches!(transition(&delivery, &event, call.now), Transition::Changed(_))
        });
        return Ok(would.then_some(None));
    }
    let token = || app.entropy.token();
    Ok(match app.notifications.apply(id, &event, call.now, token).await? {
        ApplyOutcome::Changed { after, .. } => Some(Some(*after)),
        ApplyOutcome::Unchanged(_) | ApplyOutcome::Illegal(..) | ApplyOutcome::NotFound => None,
    })
}

fn check_count(count: usize, field: &str) -> Result<usize> {
    let fits = (1..=MAX_DEAD_LETTERS).contains(&count);
    if fits { Ok(count) } else { Err(Problem::field(field, "a number from 1 to 100")) }
}

fn filter(channel_name: Option<&str>, class: Option<&str>) -> Result<DeadLetterFilter> {
    let known = |name: &str| {
        Class::ALL.into_iter().find(|class| class.name() == name).ok_or_else(|| {
            let names = Class::ALL.map(|class| format!("`{}`", class.name())).join(", ");
            Problem::field("class", format!("one of {names}"))
        })
    };
    Ok(DeadLetterFilter {
        channel: channel_name.map(parse_channel).transpose()?,
        class: class.map(known).transpose()?,
    })
}

fn position(cursor: Option<&str>) -> Result<Option<String>> {
    cursor.map(|text| Cursor::decode(CURSOR_LIST, text)).transpose()
}
