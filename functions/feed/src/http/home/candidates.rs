//! Reads feed candidates: the timeline and the recent posts of authors who are pulled, or, below
//! the timeline and after an absence, the recent posts of everybody whom the reader follows.
//!
//! A timeline is complete from its floor on only if both are of one moment. A rebuild writes references and
//! then lowers the floor, so the floor is read first; a trim raises the floor and then takes references away, so
//! it is read again after them, where so few may be left that it matters.
//!
//! An author who turns out to be muted, or not followed any more, is not read again for the same page.

use std::collections::{HashMap, HashSet};

use crate::store::ReaderState;
use domain::accounts::UserId;
use domain::feed::candidates::{CandidateSources, candidate_sources, merge_runs};
use domain::feed::{PagerStep, PostId, PostReference, RecentPosts, ReferenceRun};
use domain::{Failure, Result, Timestamp};
use futures::{StreamExt, TryStreamExt, stream};

use crate::http::TRIES;
use crate::http::state::App;

/// Authors whose posts are queried at the same time.
const AT_ONCE: usize = 8;

/// What was read of the timeline and of authors for one page.
#[derive(Debug, Default)]
pub(super) struct CandidateReader {
    /// The first stretch of the timeline, read before anything was known.
    prefetched: Option<(PostId, Vec<(PostReference, Timestamp)>)>,
    /// When each reference arrived.
    arrived: HashMap<PostId, Timestamp>,
    authors: HashMap<PostId, UserId>,
    /// Everybody whom the reader follows, once that was asked for.
    followed: Option<Vec<(UserId, RecentPosts)>>,
    marked: Option<Vec<(UserId, RecentPosts)>>,
    /// Authors of whom nothing is shown.
    excluded: HashSet<UserId>,
}

impl CandidateReader {
    /// Reads what the first step of a scroll will ask for in any case.
    pub(super) async fn start(app: &App, me: &UserId, first: &PagerStep) -> Result<Self> {
        let mut candidates = Self::default();
        if let PagerStep::FetchCandidates { below, limit } = first {
            let rows = app.feed.timeline(me, *below, *limit).await?;
            candidates.prefetched = Some((*below, rows));
        }
        Ok(candidates)
    }

    /// Who wrote a post, if a reference said so.
    pub(super) fn author_of(&self, post: PostId) -> Option<&UserId> {
        self.authors.get(&post)
    }

    /// Leaves an author's posts out of this page.
    pub(super) fn exclude_author(&mut self, author: &UserId) {
        self.excluded.insert(author.clone());
    }

    /// How long the newest of some posts took to come into the timeline, in milliseconds.
    pub(super) fn staleness(&self, posts: &[PostId]) -> Option<f64> {
        let newest = posts.iter().filter(|post| self.arrived.contains_key(post)).max()?;
        let arrived = self.arrived.get(newest)?.as_millisecond();
        let ms = arrived.saturating_sub(newest.at().as_millisecond()).max(0);
        Some(f64::from(u32::try_from(ms).unwrap_or(u32::MAX)))
    }

    /// The newest candidates below a place. The reader is read again if their timeline changes meanwhile.
    pub(super) async fn below(
        &mut self,
        app: &App,
        state: &mut ReaderState,
        below: PostId,
        limit: usize,
    ) -> Result<ReferenceRun> {
        let timeline = self.above_floor(app, state, below, limit).await?;
        let reader = &state.reader;
        let runs = match candidate_sources(reader, below) {
            CandidateSources::Timeline(marked) => {
                let rows = match self.marked.take() {
                    Some(rows) => rows,
                    None => authors(app, &marked).await?,
                };
                let mut runs = self.pull(app, &rows, below, limit).await?;
                self.marked = Some(rows);
                runs.extend(timeline);
                runs
            }
            CandidateSources::AllFollowed => {
                let rows = match self.followed.take() {
                    Some(rows) => rows,
                    None => followed(app, &reader.user).await?,
                };
                let runs = self.pull(app, &rows, below, limit).await?;
                self.followed = Some(rows);
                runs
            }
        };
        let mut run = merge_runs(runs, below, limit);
        run.references.retain(|found| !self.excluded.contains(&found.author));
        let named = run.references.iter();
        self.authors.extend(named.map(|found| (found.post_id, found.author.clone())));
        Ok(run)
    }

    /// What the timeline has below a place; nothing if that is below its floor.
    async fn above_floor(
        &mut self,
        app: &App,
        state: &mut ReaderState,
        below: PostId,
        limit: usize,
    ) -> Result<Option<ReferenceRun>> {
        for _ in 0..TRIES {
            if candidate_sources(&state.reader, below) == CandidateSources::AllFollowed {
                return Ok(None);
            }
            let run = self.timeline(app, state, below, limit).await?;
            let reader = &mut state.reader;
            // A trim leaves as many as are kept: far fewer from the top on means that there was none.
            let is_short = run.references.len() * 2 < app.settings.timeline_size;
            if below == PostId::MAX && is_short {
                return Ok(Some(run));
            }
            let met = app.feed.reader_state(&reader.user, reader.last_seen_at).await?.reader;
            if (met.floor, met.epoch) == (reader.floor, reader.epoch) {
                return Ok(Some(run));
            }
            *reader = met;
        }
        Err(Failure::new("read the timeline", "it keeps changing"))
    }

    async fn timeline(
        &mut self,
        app: &App,
        state: &ReaderState,
        below: PostId,
        limit: usize,
    ) -> Result<ReferenceRun> {
        let reader = &state.reader;
        let rows = match self.prefetched.take() {
            // It may have been read before a rebuild, and the reader after it, unless that was long ago.
            Some((from, rows)) if from == below && state.is_settled => rows,
            _ => app.feed.timeline(&reader.user, below, limit).await?,
        };
        self.arrived.extend(rows.iter().map(|(reference, at)| (reference.post_id, *at)));
        let references = rows.into_iter().map(|(reference, _)| reference).collect();
        Ok(ReferenceRun::from_timeline(references, limit, reader))
    }

    /// What each author wrote below a place.
    async fn pull(
        &self,
        app: &App,
        rows: &[(UserId, RecentPosts)],
        below: PostId,
        limit: usize,
    ) -> Result<Vec<ReferenceRun>> {
        let rows = rows.iter().filter(|(author, _)| !self.excluded.contains(author));
        let runs = rows.map(|(author, row)| app.feed.posts_below(author, row, below, limit));
        let runs: Vec<_> = runs.collect();
        stream::iter(runs).buffer_unordered(AT_ONCE).try_collect().await
    }
}

/// The recent posts of everyone whom the reader follows.
async fn followed(app: &App, reader: &UserId) -> Result<Vec<(UserId, RecentPosts)>> {
    authors(app, &app.feed.following(reader, None, None).await?).await
}

/// The recent posts of some authors.
async fn authors(app: &App, users: &[UserId]) -> Result<Vec<(UserId, RecentPosts)>> {
    let found = app.feed.authors(users).await?;
    Ok(found.into_iter().map(|(author, row)| (author, row.recents)).collect())
}
