//! The home feed: a page of posts of the authors whom the caller follows.
//!
//! The domain's [`FeedPager`] says what to read next; here it is read. In rounds: who the reader is, with
//! their timeline; recent posts of authors who are pulled; posts, with what is between the reader and their
//! authors; profiles and likes for the page.

mod candidates;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::store::{ReaderState, StoredPost, StoredRelationship};
use boundary::http::{Call, Caller, Json, Operation, Problem, Query, Result, State};
use boundary::telemetry::{Unit, measure};
use domain::Timestamp;
use domain::accounts::{Role, UserId};
use domain::feed::{
    Candidate, FeedCursor, FeedMessage, FeedOrder, FeedPage, FeedPager, PagerStep, PostId,
    RankWeights, ReaderVisit,
};
use futures::future::{try_join, try_join3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::posts::contended;
use super::views::{PostView, post_views};
use crate::http::TRIES;
use crate::http::state::App;
use candidates::CandidateReader;

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
struct PageReader<'a> {
    app: &'a App,
    me: UserId,
    state: ReaderState,
    candidates: CandidateReader,
    entries: HashMap<PostId, StoredPost>,
}

pub(super) const READ: Operation = Operation::get("/api/v1/feed", "readFeed", "Read the home feed")
    .description(
        "What the people say whom you follow, ranked by how new it is, how many care \
             about it and how close you are to its author; each item says why it is there. \
             A scroll is pinned to its first page: nothing comes twice and nothing is \
             passed over while others write.",
    )
    .role(Role::Member);

pub(super) async fn read(
    State(app): State<Arc<App>>,
    call: Call,
    Query(query): Query<FeedQuery>,
    caller: Caller,
) -> Result<Json<FeedView>> {
    let me = &caller.user_id;
    let mut scroll = scroll(&query, me, &app, call.now)?;
    // What the first step asks for is read beside the reader's own row.
    let first = scroll.step();
    let candidates = async { Ok(CandidateReader::start(&app, me, &first).await?) };
    let (state, candidates) = try_join(record_visit(&app, me, &call), candidates).await?;
    let me = me.clone();
    let mut reader = PageReader { app: &app, me, state, candidates, entries: HashMap::new() };
    let page = reader.page(scroll, first).await?;
    Ok(Json(reader.into_view(page, call.now).await?))
}

fn scroll(query: &FeedQuery, me: &UserId, app: &App, now: Timestamp) -> Result<FeedPager> {
    let limit = query.limit.unwrap_or(20);
    let order = query.order.as_deref().map(FeedOrder::parse).transpose()?;
    let Some(text) = &query.cursor else {
        let (order, weights) = (order.unwrap_or_default(), &RankWeights::CURRENT);
        return Ok(FeedPager::start(me.clone(), order, limit, weights, &app.settings, now)?);
    };
    let cursor = FeedCursor::decode(text, me)?;
    if order.is_some_and(|order| order != cursor.order) {
        return Err(Problem::field("order", "the one that the cursor began with"));
    }
    let weights = RankWeights::by_version(cursor.weights).unwrap_or(RankWeights::CURRENT);
    Ok(FeedPager::resume(me.clone(), cursor, limit, &weights, &app.settings)?)
}

/// The reader's state. A return is written before anything is read, so that a fan-out that
/// begins later writes to their timeline; until it is rebuilt they read from the authors.
async fn record_visit(app: &App, me: &UserId, call: &Call) -> Result<ReaderState> {
    for _ in 0..TRIES {
        let mut state = app.feed.reader_state(me, call.now).await?;
        let arrival = state.reader.visit(call.now, &app.settings);
        let asked = match arrival {
            ReaderVisit::Recent if state.is_known => rebuild_request(&state),
            ReaderVisit::Recent => {
                let reader = state.reader.clone();
                if !app.feed.record_visit(&state, &reader, call.now).await? {
                    continue;
                }
                None
            }
            ReaderVisit::Recorded(reader) => {
                // Another page that noted it has noted it.
                app.feed.record_visit(&state, &reader, call.now).await?;
                let seen = FeedMessage::ReaderSeen { v: 1, reader: me.clone() };
                Some(rebuild_request(&state).unwrap_or(seen))
            }
            ReaderVisit::Returned(reader) => {
                if !app.feed.record_visit(&state, &reader, call.now).await? {
                    continue;
                }
                state.reader = reader;
                rebuild_request(&state)
            }
        };
        app.enqueue(asked.into_iter().collect(), call).await;
        return Ok(state);
    }
    Err(contended())
}

/// A rebuild that was lost is asked for again by the next page.
fn rebuild_request(state: &ReaderState) -> Option<FeedMessage> {
    let reader = &state.reader;
    (reader.floor == PostId::MAX).then(|| FeedMessage::ReaderReturned {
        v: 1,
        reader: reader.user.clone(),
        epoch: reader.epoch,
    })
}

impl PageReader<'_> {
    /// Reads until there is a page.
    async fn page(&mut self, mut scroll: FeedPager, first: PagerStep) -> Result<FeedPage> {
        let mut step = first;
        loop {
            match step {
                PagerStep::FetchCandidates { below, limit } => {
                    let state = &mut self.state;
                    scroll.candidates_fetched(
                        self.candidates.below(self.app, state, below, limit).await?,
                    );
                }
                PagerStep::Hydrate(posts) => {
                    let found = self.hydrate(posts, scroll.ranked_at()).await?;
                    scroll.posts_hydrated(found);
                }
                PagerStep::Done(page) => return Ok(page),
            }
            step = scroll.step();
        }
    }

    /// Reads posts, up to date, and what is between the reader and their authors. Where references say
    /// who they are, both are read at once.
    async fn hydrate(&mut self, ids: Vec<PostId>, ranked_at: Timestamp) -> Result<Vec<Candidate>> {
        let feed = &self.app.feed;
        let posts = feed.posts(ids.iter().copied());
        let known: Option<BTreeSet<&UserId>> =
            ids.iter().map(|id| self.candidates.author_of(*id)).collect();
        let (entries, relationships) = if let Some(authors) = known {
            try_join(posts, feed.relationships(&self.me, authors)).await?
        } else {
            let entries = posts.await?;
            let authors: BTreeSet<&UserId> = entries.values().map(|it| &it.post.author).collect();
            let relationships = feed.relationships(&self.me, authors).await?;
            (entries, relationships)
        };
        let mut found = Vec::with_capacity(entries.len());
        for (id, entry) in entries {
            let relation: StoredRelationship =
                relationships.get(&entry.post.author).copied().unwrap_or_default();
            if relation.state.hides_from_feed() {
                self.candidates.exclude_author(&entry.post.author);
            }
            found.push(Candidate {
                post: entry.post.clone(),
                counts: entry.counts,
                relationship: relation.state,
                affinity: relation.affinity_at(ranked_at),
                seen: self.state.seen.contains(id),
            });
            self.entries.insert(id, entry);
        }
        Ok(found)
    }

    /// The page with everything that is shown of it. What was shown is noted, and references that lead
    /// to nothing are taken away.
    async fn into_view(mut self, page: FeedPage, now: Timestamp) -> Result<FeedView> {
        let ids: Vec<PostId> = page.items.iter().map(domain::feed::RankedItem::id).collect();
        let entries: Vec<StoredPost> =
            ids.iter().filter_map(|id| self.entries.remove(id)).collect();
        let stale: Vec<_> = page.stale.into_iter().map(|post| (self.me.clone(), post)).collect();
        let (views, (), ()) = try_join3(
            post_views(self.app, &self.me, &entries),
            self.app.feed.record_seen(&self.state, ids.iter().copied()),
            self.app.feed.remove_references(stale),
        )
        .await?;
        if let Some(ms) = self.candidates.staleness(&ids) {
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
