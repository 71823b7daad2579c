//! The home feed: a page of what those say whom the caller follows.
//!
//! The domain's [`Scroll`] says what to read next; here it is read. In rounds: who the reader is, with
//! their timeline; recent posts of authors who are pulled; posts, with what is between the reader and their
//! authors; profiles and likes for the page.

mod gather;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::store::{Between, Entry, Standing};
use boundary::http::{Call, Caller, Json, Operation, Problem, Query, State};
use boundary::telemetry::{Unit, measure};
use domain::Timestamp;
use domain::accounts::{Role, UserId};
use domain::feed::{
    Arrival, Candidate, Cursor, Message, Order, Page, PostId, Scroll, Step, Weights,
};
use futures::future::{try_join, try_join3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::posts::busy;
use super::view::{PostView, show};
use crate::http::state::App;
use gather::Gathering;

/// A reader may change under our hands so often.
const TRIES: usize = 8;

/// Which part of the feed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeedQuery {
    /// `nextCursor` of the page before. It keeps the order, and the ranking of the moment at which the
    /// first page was read.
    cursor: Option<String>,
    /// How many at most, 1 to 50; 20 if left out.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<usize>,
    /// `ranked`, or `latest` for the newest first; `ranked` if left out.
    order: Option<String>,
}

/// A page of the feed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FeedView {
    /// In order. A page is full unless the feed ends with it.
    items: Vec<PostView>,
    /// Pass it as `cursor` for the next page; `null` at the end.
    next_cursor: Option<String>,
    has_more: bool,
    /// What to resume from with a WebSocket, so that nothing is missed after this page was read.
    position: String,
}

/// What is read for one page.
struct Reading<'a> {
    app: &'a App,
    me: UserId,
    standing: Standing,
    gathering: Gathering,
    entries: HashMap<PostId, Entry>,
}

pub(super) const READ: Operation =
    Operation::get("/api/v1/feed", "readFeed", "What is new for me?")
        .description(
            "What the people say whom you follow, ranked by how new it is, how many care \
             about it and how close you are to its author; each item says why it is there. \
             A scroll is pinned to its first page: nothing comes twice and nothing is \
             passed over, whatever is written meanwhile.",
        )
        .role(Role::Member);

pub(super) async fn read(
    State(app): State<Arc<App>>,
    call: Call,
    Query(query): Query<FeedQuery>,
    caller: Caller,
) -> Result<Json<FeedView>, Problem> {
    let me = &caller.user_id;
    let mut scroll = scroll(&query, me, &app, call.now)?;
    // What the first step asks for is read beside the reader's own row.
    let first = scroll.step();
    let gathering = async { Ok(Gathering::begin(&app, me, &first).await?) };
    let (standing, gathering) = try_join(arrive(&app, me, &call), gathering).await?;
    let me = me.clone();
    let mut reading = Reading { app: &app, me, standing, gathering, entries: HashMap::new() };
    let page = reading.page(scroll, first).await?;
    Ok(Json(reading.answer(page, call.now).await?))
}

fn scroll(query: &FeedQuery, me: &UserId, app: &App, now: Timestamp) -> Result<Scroll, Problem> {
    let limit = query.limit.unwrap_or(20);
    let order = query.order.as_deref().map(Order::parse).transpose()?;
    let Some(text) = &query.cursor else {
        let (order, weights) = (order.unwrap_or_default(), &Weights::CURRENT);
        return Ok(Scroll::start(me.clone(), order, limit, weights, &app.settings, now)?);
    };
    let cursor = Cursor::decode(text, me)?;
    if order.is_some_and(|order| order != cursor.order) {
        return Err(Problem::field("order", "the one that the cursor began with"));
    }
    let weights = Weights::of(cursor.weights).unwrap_or(Weights::CURRENT);
    Ok(Scroll::resume(me.clone(), cursor, limit, &weights, &app.settings)?)
}

/// Who is reading. That somebody is back is written before anything is read for them, so that whoever
/// fans out from then on writes to their timeline; until it is rebuilt they read from the authors.
async fn arrive(app: &App, me: &UserId, call: &Call) -> Result<Standing, Problem> {
    for _ in 0..TRIES {
        let mut standing = app.feed.standing(me, call.now).await?;
        let arrival = standing.reader.arrives(call.now, &app.settings);
        let asked = match arrival {
            Arrival::Here if standing.is_known => rebuilding(&standing),
            Arrival::Here => {
                let reader = standing.reader.clone();
                if !app.feed.arrived(&standing, &reader, call.now).await? {
                    continue;
                }
                None
            }
            Arrival::Noted(reader) => {
                // Another page that noted it has noted it.
                app.feed.arrived(&standing, &reader, call.now).await?;
                let seen = Message::ReaderSeen { v: 1, reader: me.clone() };
                Some(rebuilding(&standing).unwrap_or(seen))
            }
            Arrival::Returned(reader) => {
                if !app.feed.arrived(&standing, &reader, call.now).await? {
                    continue;
                }
                standing.reader = reader;
                rebuilding(&standing)
            }
        };
        app.ask(asked.into_iter().collect(), call).await;
        return Ok(standing);
    }
    Err(busy())
}

/// A rebuild that was lost is asked for again by the next page.
fn rebuilding(standing: &Standing) -> Option<Message> {
    let reader = &standing.reader;
    (reader.floor == PostId::MAX).then(|| Message::ReaderReturned {
        v: 1,
        reader: reader.user.clone(),
        epoch: reader.epoch,
    })
}

impl Reading<'_> {
    /// Reads until there is a page.
    async fn page(&mut self, mut scroll: Scroll, first: Step) -> Result<Page, Problem> {
        let mut step = first;
        loop {
            match step {
                Step::Gather { below, most } => {
                    let standing = &mut self.standing;
                    scroll.gathered(self.gathering.below(self.app, standing, below, most).await?);
                }
                Step::Hydrate(posts) => {
                    let found = self.hydrate(posts, scroll.ranked_at()).await?;
                    scroll.hydrated(found);
                }
                Step::Done(page) => return Ok(page),
            }
            step = scroll.step();
        }
    }

    /// Reads posts, up to date, and what is between the reader and their authors. Where references say
    /// who they are, both are read at once.
    async fn hydrate(
        &mut self,
        ids: Vec<PostId>,
        ranked_at: Timestamp,
    ) -> Result<Vec<Candidate>, Problem> {
        let feed = &self.app.feed;
        let posts = feed.posts(ids.iter().copied());
        let known: Option<BTreeSet<&UserId>> =
            ids.iter().map(|id| self.gathering.author_of(*id)).collect();
        let (entries, ties) = if let Some(authors) = known {
            try_join(posts, feed.ties(&self.me, authors)).await?
        } else {
            let entries = posts.await?;
            let authors: BTreeSet<&UserId> = entries.values().map(|it| &it.post.author).collect();
            let ties = feed.ties(&self.me, authors).await?;
            (entries, ties)
        };
        let mut found = Vec::with_capacity(entries.len());
        for (id, entry) in entries {
            let between: Between = ties.get(&entry.post.author).copied().unwrap_or_default();
            if between.tie.is_barred() {
                self.gathering.bar(&entry.post.author);
            }
            found.push(Candidate {
                post: entry.post.clone(),
                counts: entry.counts,
                tie: between.tie,
                affinity: between.affinity_at(ranked_at),
                seen: self.standing.seen.has(id),
            });
            self.entries.insert(id, entry);
        }
        Ok(found)
    }

    /// The page with everything that is shown of it. What was shown is noted, and references that lead
    /// to nothing are taken away.
    async fn answer(mut self, page: Page, now: Timestamp) -> Result<FeedView, Problem> {
        let ids: Vec<PostId> = page.items.iter().map(domain::feed::Item::id).collect();
        let entries: Vec<Entry> = ids.iter().filter_map(|id| self.entries.remove(id)).collect();
        let stale: Vec<_> = page.stale.into_iter().map(|post| (self.me.clone(), post)).collect();
        let (views, (), ()) = try_join3(
            show(self.app, &self.me, &entries),
            self.app.feed.shown(&self.standing, ids.iter().copied()),
            self.app.feed.forget(stale),
        )
        .await?;
        if let Some(ms) = self.gathering.staleness(&ids) {
            measure("FeedStaleness", Unit::Milliseconds, ms);
        }
        let ranked = views.into_iter().zip(&page.items);
        Ok(FeedView {
            items: ranked.map(|(view, item)| view.ranked(item.score, &item.why)).collect(),
            has_more: page.next.is_some(),
            next_cursor: page.next.map(|cursor| cursor.encode(&self.me)),
            position: now.to_string(),
        })
    }
}
