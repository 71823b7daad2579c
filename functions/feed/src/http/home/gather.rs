//! Where candidates come from: the timeline and the recent posts of authors who are pulled, or, below
//! the timeline and after an absence, the recent posts of everybody whom the reader follows.
//!
//! A timeline is complete from its floor on only if both are of one moment. A rebuild writes references and
//! then lowers the floor, so the floor is read first; a trim raises the floor and then takes references away, so
//! it is read again after them, where so few may be left that it matters.
//!
//! Whoever turns out to be muted, or not followed any more, is not looked at again for the same page.

use std::collections::{HashMap, HashSet};

use crate::store::Standing;
use domain::accounts::UserId;
use domain::feed::gather::{Sources, merge, sources};
use domain::feed::{PostId, Recents, Reference, Run, Step};
use domain::{Failure, Timestamp};
use futures::{StreamExt, TryStreamExt, stream};

use crate::http::state::App;

/// Authors whose posts are queried at the same time.
const AT_ONCE: usize = 8;

/// A timeline may change under our hands so often.
const TRIES: usize = 8;

/// What was read of the timeline and of authors for one page.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    /// The first stretch of the timeline, read before anything was known.
    ahead: Option<(PostId, Vec<(Reference, Timestamp)>)>,
    /// When each reference arrived.
    arrived: HashMap<PostId, Timestamp>,
    authors: HashMap<PostId, UserId>,
    /// Everybody whom the reader follows, once that was asked for.
    everybody: Option<Vec<(UserId, Recents)>>,
    marked: Option<Vec<(UserId, Recents)>>,
    /// Authors of whom nothing is shown.
    barred: HashSet<UserId>,
}

impl Gathering {
    /// Reads what the first step of a scroll will ask for in any case.
    pub(super) async fn begin(app: &App, me: &UserId, first: &Step) -> Result<Self, Failure> {
        let mut gathering = Self::default();
        if let Step::Gather { below, most } = first {
            let rows = app.feed.timeline(me, *below, *most).await?;
            gathering.ahead = Some((*below, rows));
        }
        Ok(gathering)
    }

    /// Who wrote a post, if a reference said so.
    pub(super) fn author_of(&self, post: PostId) -> Option<&UserId> {
        self.authors.get(&post)
    }

    /// Nothing of an author is shown on this page, whatever they wrote.
    pub(super) fn bar(&mut self, author: &UserId) {
        self.barred.insert(author.clone());
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
        standing: &mut Standing,
        below: PostId,
        most: usize,
    ) -> Result<Run, Failure> {
        let timeline = self.above_floor(app, standing, below, most).await?;
        let reader = &standing.reader;
        let runs = match sources(reader, below) {
            Sources::Timeline(marked) => {
                let rows = match self.marked.take() {
                    Some(rows) => rows,
                    None => authors(app, &marked).await?,
                };
                let mut runs = self.pull(app, &rows, below, most).await?;
                self.marked = Some(rows);
                runs.extend(timeline);
                runs
            }
            Sources::Everybody => {
                let rows = match self.everybody.take() {
                    Some(rows) => rows,
                    None => everybody(app, &reader.user).await?,
                };
                let runs = self.pull(app, &rows, below, most).await?;
                self.everybody = Some(rows);
                runs
            }
        };
        let mut run = merge(runs, below, most);
        run.references.retain(|found| !self.barred.contains(&found.author));
        let named = run.references.iter();
        self.authors.extend(named.map(|found| (found.post_id, found.author.clone())));
        Ok(run)
    }

    /// What the timeline has below a place; nothing if that is below its floor.
    async fn above_floor(
        &mut self,
        app: &App,
        standing: &mut Standing,
        below: PostId,
        most: usize,
    ) -> Result<Option<Run>, Failure> {
        for _ in 0..TRIES {
            if sources(&standing.reader, below) == Sources::Everybody {
                return Ok(None);
            }
            let run = self.timeline(app, standing, below, most).await?;
            let reader = &mut standing.reader;
            // A trim leaves as many as are kept: whoever sees far fewer from the top on has met none.
            let is_short = run.references.len() * 2 < app.settings.kept;
            if below == PostId::MAX && is_short {
                return Ok(Some(run));
            }
            let met = app.feed.standing(&reader.user, reader.seen_at).await?.reader;
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
        standing: &Standing,
        below: PostId,
        most: usize,
    ) -> Result<Run, Failure> {
        let reader = &standing.reader;
        let rows = match self.ahead.take() {
            // It may have been read before a rebuild, and the reader after it, unless that was long ago.
            Some((from, rows)) if from == below && standing.is_settled => rows,
            _ => app.feed.timeline(&reader.user, below, most).await?,
        };
        self.arrived.extend(rows.iter().map(|(reference, at)| (reference.post_id, *at)));
        let references = rows.into_iter().map(|(reference, _)| reference).collect();
        Ok(Run::timeline(references, most, reader))
    }

    /// What each author wrote below a place.
    async fn pull(
        &self,
        app: &App,
        rows: &[(UserId, Recents)],
        below: PostId,
        most: usize,
    ) -> Result<Vec<Run>, Failure> {
        let rows = rows.iter().filter(|(author, _)| !self.barred.contains(author));
        let runs = rows.map(|(author, row)| app.feed.posts_below(author, row, below, most));
        let runs: Vec<_> = runs.collect();
        stream::iter(runs).buffer_unordered(AT_ONCE).try_collect().await
    }
}

/// The recent posts of everybody whom somebody follows.
async fn everybody(app: &App, reader: &UserId) -> Result<Vec<(UserId, Recents)>, Failure> {
    authors(app, &app.feed.following(reader, None, None).await?).await
}

/// The recent posts of some authors.
async fn authors(app: &App, users: &[UserId]) -> Result<Vec<(UserId, Recents)>, Failure> {
    let found = app.feed.authors(users).await?;
    Ok(found.into_iter().map(|(author, row)| (author, row.recents)).collect())
}
