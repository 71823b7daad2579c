//! Counts clicks: from batches on a queue to each link's days, totals and visitors.
//!
//! Trigger: the queue `clicks`. Effect: for each batch one transaction of the batch's name and its
//! counts; before it, the day's visitors (adding the same ones again changes nothing) and, for all
//! batches of an invocation together, one object of raw clicks in the archive. Guarantee: a batch is
//! counted once, however often it is delivered and wherever the function dies in between; the archive
//! has every click at least once, under its batch's name.

mod archive;

use std::collections::BTreeSet;

use crate::store::{ClickArchive, Links};
use boundary::batch::{Consumer, ReceivedMessage, Unhandled};
use boundary::telemetry::{Unit, measure};
use boundary::{Entropy, Host, Misconfigured};
use domain::Result;
use domain::links::Code;
use domain::links::clicks::{Click, ClickBatch};
use domain::links::counts::{ClickCounts, LinkDay, aggregate};
use futures::{TryStreamExt, stream};

/// Referrers named for one link and day; what comes after them is added up as `other`. A row that
/// any visitor can make grow by sending made-up headers must have an end.
const MAX_REFERRERS: usize = 200;

/// Links of a batch that are updated at the same time.
const CONCURRENCY: usize = 16;

/// The state that messages share.
#[derive(Debug)]
pub struct State {
    links: Links,
    archive: ClickArchive,
    entropy: Entropy,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Consumer<State>, Misconfigured> {
    let bucket = host.vars.required("CLICKS_BUCKET")?;
    let state = State {
        links: Links::from_host(host)?,
        archive: ClickArchive::new(host.aws.bucket(bucket)),
        entropy: host.entropy.clone(),
    };
    let consumer = Consumer::new(
        host,
        "countClicks",
        "COUNT_CLICKS_DEAD_LETTERS",
        state,
        |state, message| Box::pin(count(state, message)),
    )?;
    Ok(consumer.before_batch(|state, messages| Box::pin(archive::archive_clicks(state, messages))))
}

async fn count(state: &State, message: &ReceivedMessage) -> Result<(), Unhandled> {
    let batch = parse_batch(&message.body)?;
    let mut days = aggregate(&batch);
    stream::iter(days.iter_mut().map(Ok))
        .try_for_each_concurrent(CONCURRENCY, |(link_day, counts)| {
            update_visitors(state, &batch, link_day, counts)
        })
        .await?;
    if !days.is_empty() {
        state.links.count(&batch.id, &days, message.now, || state.entropy.token()).await?;
    }
    // A batch that was counted before may have been cut off right here.
    mark_spent_links(state, &batch, message).await?;
    if let Some(oldest) = batch.clicks.iter().map(|click| click.at).min() {
        let lag = message.now.as_millisecond() - oldest.as_millisecond();
        measure("ClickLag", Unit::Milliseconds, f64::from(i32::try_from(lag).unwrap_or(i32::MAX)));
    }
    Ok(())
}

/// Bounds the referrers and adds the visitors; doing so again changes nothing.
async fn update_visitors(
    state: &State,
    batch: &ClickBatch,
    link_day: &LinkDay,
    counts: &mut ClickCounts,
) -> Result {
    let known = state.links.known_referrers(&batch.id, link_day, counts).await?;
    counts.cap_referrers(&known, MAX_REFERRERS);
    if counts.visitors.is_empty() {
        return Ok(());
    }
    state.links.add_visitors(link_day, &counts.visitors).await
}

fn parse_batch(body: &str) -> Result<ClickBatch, Unhandled> {
    ClickBatch::parse(body).map_err(|malformed| Unhandled::Unreadable(malformed.to_string()))
}

/// Marks links whose maximum of clicks is reached. The rows have the numbers, not the message.
async fn mark_spent_links(
    state: &State,
    batch: &ClickBatch,
    message: &ReceivedMessage,
) -> Result<(), Unhandled> {
    let limited: BTreeSet<(&str, &str)> = batch
        .clicks
        .iter()
        .filter(|click| click.limited && !click.head)
        .map(|Click { domain, code, .. }| (domain.as_str(), code.as_str()))
        .collect();
    for (domain, code) in limited {
        let Some(code) = Code::parse(code) else { continue };
        let Some(link) = state.links.find(domain, &code).await? else { continue };
        let Some(max) = link.terms.max_clicks.filter(|_| link.spent_at.is_none()) else { continue };
        if state.links.totals(domain, &code).await?.clicks >= max {
            state.links.mark_spent(domain, &code, max, message.now).await?;
        }
    }
    Ok(())
}
