//! Scrolls under writes: nothing comes twice, nothing that was there all the time is passed over, nothing is
//! shown that may not be seen, and no page is short before the end.

use std::collections::BTreeSet;

use domain::accounts::UserId;
use domain::feed::{FeedMessage, ViewContext};
use http::Method;
use serde_json::Value;
use tests::{Response, Result};

use super::harness::{Harness, person};
use super::interleavings::Span;
use super::model::{Model, Visibility};

#[derive(Debug, Clone)]
pub(super) struct Scroll {
    reader: &'static str,
    order: &'static str,
    limit: usize,
    cursor: Option<String>,
    shown: Vec<String>,
    /// What has to come before the end, once that is known.
    must: Option<BTreeSet<String>>,
}

/// What was read of it in a step.
#[derive(Debug)]
pub(super) struct Read {
    scroll: Scroll,
    /// When it began, and what was not done then; if it began in this step.
    began: Option<(u64, Vec<FeedMessage>)>,
    pages: Vec<Page>,
    ended: bool,
}

#[derive(Debug)]
struct Page {
    span: Span,
    items: Vec<Item>,
    is_full: bool,
}

#[derive(Debug)]
struct Item {
    note: String,
    shared: Option<String>,
}

impl Scroll {
    pub(super) const fn new(reader: &'static str, order: &'static str, limit: usize) -> Self {
        Self { reader, order, limit, cursor: None, shown: Vec::new(), must: None }
    }

    pub(super) const fn reader(&self) -> &'static str {
        self.reader
    }

    /// Reads so many pages, or to the end.
    pub(super) async fn read(mut self, harness: &Harness, most: usize) -> Result<Read> {
        let mut began = None;
        if self.must.is_none() {
            let at = harness.tick();
            began = Some((at, harness.unfinished().await));
        }
        let mut pages = Vec::new();
        for _ in 0..most {
            let mut path = format!("/api/v1/feed?order={}&limit={}", self.order, self.limit);
            if let Some(cursor) = &self.cursor {
                path = format!("{path}&cursor={cursor}");
            }
            let read =
                harness.persist(self.reader, (Method::GET, &path), &Value::Null, None).await?;
            let answer = &read.answer;
            if read.status() != 200 {
                return Err(format!("{path} was answered {}: {}", answer.status, answer.body));
            }
            let items = items(answer);
            let is_full = items.len() == self.limit;
            pages.push(Page { span: read.last, items, is_full });
            self.cursor = answer.body["nextCursor"].as_str().map(str::to_owned);
            if answer.body["hasMore"] != self.cursor.is_some() {
                return Err(format!("`hasMore` and `nextCursor` differ: {}", answer.body));
            }
            if self.cursor.is_none() {
                break;
            }
        }
        let ended = self.cursor.is_none();
        Ok(Read { scroll: self, began, pages, ended })
    }

    /// What has to come can't be what was hidden for a while.
    pub(super) fn passes(&mut self, known: &Model, during: Span) {
        let me = person(self.reader);
        if let Some(must) = &mut self.must {
            must.retain(|note| known.in_feed(&me, note, during) == Visibility::Surely);
        }
    }

    fn note(&mut self, page: &Page) -> Result {
        for item in &page.items {
            if self.shown.contains(&item.note) {
                return Err(format!("{} comes twice in {self:?}", item.note));
            }
            self.shown.push(item.note.clone());
        }
        Ok(())
    }
}

impl Read {
    /// Checks what was read in a step, by what may have been meanwhile; the scroll, if it goes on.
    pub(super) fn check(self, known: &Model) -> Result<Option<Scroll>> {
        let Self { mut scroll, began, pages, ended } = self;
        let me = person(scroll.reader);
        let whole = began.as_ref().map_or_else(|| Span::since(0), |(at, _)| Span::since(*at));
        if let Some((_, unfinished)) = &began {
            scroll.must = Some(settled(known, &me, unfinished));
        }
        scroll.passes(known, whole);
        let last = pages.len() - 1;
        for (index, page) in pages.iter().enumerate() {
            check_sights(known, &me, page)?;
            scroll.note(page)?;
            if !page.is_full && (index < last || !ended) {
                return Err(format!("a short page before the end: {page:?} of {scroll:?}"));
            }
        }
        check_order(known, &scroll)?;
        if !ended {
            return Ok(Some(scroll));
        }
        let missing: Vec<_> =
            scroll.must.iter().flatten().filter(|note| !scroll.shown.contains(note)).collect();
        if missing.is_empty() { Ok(None) } else { Err(format!("{missing:?} not in {scroll:?}")) }
    }
}

/// Posts that nothing has to be done about any more before they are in a feed.
fn settled(known: &Model, me: &UserId, unfinished: &[FeedMessage]) -> BTreeSet<String> {
    let mut settled = BTreeSet::new();
    for (note, noted) in &known.posts {
        let is_under_way = |message: &FeedMessage| match message {
            FeedMessage::PostCreated { post_id, .. } => *post_id == noted.id,
            FeedMessage::Followed { follower, author, .. } => {
                (follower, author) == (me, &noted.author)
            }
            FeedMessage::PostDeleted { .. }
            | FeedMessage::FanOutPage { .. }
            | FeedMessage::Unfollowed { .. }
            | FeedMessage::ReachCrossed { .. }
            | FeedMessage::ReaderReturned { .. }
            | FeedMessage::ReaderSeen { .. }
            | FeedMessage::Connected { .. }
            | FeedMessage::AudiencePage { .. }
            | FeedMessage::CountsMoved { .. } => false,
        };
        if !unfinished.iter().any(is_under_way) {
            settled.insert(note.clone());
        }
    }
    settled
}

fn check_sights(known: &Model, me: &UserId, page: &Page) -> Result {
    for Item { note, shared } in &page.items {
        if known.in_feed(me, note, page.span) == Visibility::Never {
            return Err(format!("{note} is on a page of {me:?}: {page:?}"));
        }
        if let Some(shared) = shared
            && known.sight(me, shared, ViewContext::Listed, page.span) == Visibility::Never
        {
            return Err(format!("{shared} is shown to {me:?} by {note}: {page:?}"));
        }
    }
    Ok(())
}

fn check_order(known: &Model, scroll: &Scroll) -> Result {
    let ids = scroll.shown.iter().filter_map(|note| known.posts.get(note)).map(|noted| noted.id);
    if scroll.order == "latest" && !ids.is_sorted_by(|one, next| one > next) {
        return Err(format!("not the newest first: {scroll:?}"));
    }
    Ok(())
}

fn items(page: &Response) -> Vec<Item> {
    let items = page.body["items"].as_array().into_iter().flatten();
    let text = |item: &Value| item["text"].as_str().map(str::to_owned);
    items
        .map(|item| Item { note: text(item).unwrap_or_default(), shared: text(&item["shared"]) })
        .collect()
}
