//! Posts, and the row of an author's newest ones, which changes with each of them.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use domain::accounts::UserId;
use domain::feed::fan_out::{FanOut, plan, purge};
use domain::feed::{Counts, Message, Mode, Post, PostId, Privacy, Reach, Recents, Run, Settings};
use domain::{Failure, Timestamp};
use serde::Deserialize;

use super::wire::{Change, Stretch};
use super::{Feed, rows};
use store::Idempotency;
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};
use store::row::{Builder, Item, Row, broken, bytes, number, text};
use store::schema::{GSI1, GSI1_PK, GSI1_SK};
use store::transaction::{Transacted, transact};

/// A post, and what is counted of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub post: Post,
    /// As it was last added up.
    pub counts: Counts,
    /// Acts that went into that.
    pub acts: u64,
    /// How many counters it is spread over.
    pub width: u8,
}

#[derive(Deserialize)]
struct Totals {
    #[serde(default)]
    counts: Counts,
    #[serde(default)]
    acts: u64,
    #[serde(default)]
    width: u8,
}

/// What somebody wrote last, and how they reach people. Whoever never wrote is at version 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Author {
    pub recents: Recents,
    /// Grows with each change.
    pub version: u64,
}

/// A post to write.
#[derive(Debug, Clone, Copy)]
pub struct NewPost<'a> {
    pub post: &'a Post,
    /// Its author's row, as it was read. The post's fan is the one that it says.
    pub author: &'a Author,
    /// What a repeat of the call is told.
    pub once: Option<(&'a IdempotentRequest<'a>, &'a StoredResponse)>,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub enum Created {
    /// It is there. Say this, if it is something: a row remembers it until its work is done.
    Created(Option<Message>),
    /// The call was made before: its answer, or why there is none.
    Before(Claim),
    /// The author's row is not what it was, or something else that it was decided by; look again.
    Moved,
}

/// What came of a change.
#[derive(Debug, PartialEq, Eq)]
pub enum Amended {
    /// It is written. Say this, if it is something.
    Amended(Option<Message>),
    /// It is not what it was; look again.
    Moved,
}

impl Entry {
    pub(super) fn read(item: &Item) -> Result<Self, Failure> {
        let Totals { counts, acts, width } = rows::read(item)?;
        Ok(Self { post: rows::read(item)?, counts, acts, width: width.max(1) })
    }
}

impl Feed {
    /// Reads a post, up to date.
    pub async fn post(&self, id: PostId) -> Result<Option<Entry>, Failure> {
        let found = self.get(rows::post_key(id), "read the post").await?;
        found.as_ref().map(Entry::read).transpose()
    }

    /// Reads posts, up to date, a hundred in a call; what is not there is left out.
    pub async fn posts(
        &self,
        ids: impl IntoIterator<Item = PostId>,
    ) -> Result<HashMap<PostId, Entry>, Failure> {
        let keys = ids.into_iter().map(rows::post_key).collect();
        let found = self.get_all(keys, "read posts").await?;
        let entries = found.iter().map(Entry::read);
        entries.map(|entry| entry.map(|entry| (entry.post.id, entry))).collect()
    }

    /// Reads what somebody wrote last, up to date.
    pub async fn author(&self, author: &UserId) -> Result<Author, Failure> {
        let found = self.get(rows::author_key(author), "read the author").await?;
        found.as_ref().map_or_else(|| Ok(Author::default()), read_author)
    }

    /// The same for several, each once, a hundred in a call. Who never wrote is left out.
    pub async fn authors(
        &self,
        authors: impl IntoIterator<Item = &UserId>,
    ) -> Result<HashMap<UserId, Author>, Failure> {
        let keys = authors.into_iter().map(rows::author_key).collect();
        let found = self.get_all(keys, "read authors").await?;
        let author = |item: &Item| {
            let pk = Row(item).text("pk")?.strip_prefix("author#").ok_or_else(|| broken("pk"))?;
            Ok((UserId::outside(pk), read_author(item)?))
        };
        found.iter().map(author).collect()
    }

    /// The newest `limit` posts of somebody below a place: from their row as far as that goes, then
    /// from the list of all.
    pub async fn posts_below(
        &self,
        author: &UserId,
        row: &Recents,
        below: PostId,
        limit: usize,
    ) -> Result<Run, Failure> {
        if let Some(run) = row.run(author, below) {
            return Ok(run);
        }
        let stretch = Stretch {
            index: Some(GSI1),
            condition: "gsi1pk = :author AND gsi1sk < :below",
            values: vec![(":author", text(rows::posts_of(author))), (":below", text(below.text()))],
            descending: true,
            limit: Some(limit),
        };
        let found = self.query(stretch, "read an author's posts").await?;
        let ids: Vec<PostId> = found
            .iter()
            .map(|item| PostId::parse(Row(item).text(GSI1_SK)?).ok_or_else(|| broken(GSI1_SK)))
            .collect::<Result<_, _>>()?;
        Ok(Run::queried(author, &ids, limit))
    }

    /// Writes a new post: the post, its author's row, what is left to do about it, the answer for a
    /// repeat, and whatever else belongs to it, all of it or nothing.
    pub async fn create(
        &self,
        new: NewPost<'_>,
        with: Vec<TransactWriteItem>,
        settings: &Settings,
        now: Timestamp,
        token: &str,
    ) -> Result<Created, Failure> {
        const ACTION: &str = "write the post";
        let NewPost { post, author, once } = new;
        let mut recents = author.recents.clone();
        recents.add(post.id, post.fan, settings);
        let mut items = vec![
            self.next_row(new_row(post)?, 0, ACTION)?,
            self.author_row(&post.author, &recents, author.version, ACTION)?,
        ];
        let once_at = items.len();
        if let Some((request, answer)) = once {
            items.push(self.once.claim_with_response(request, answer, now)?);
        }
        let said = Message::created(post);
        let told = match plan(post, 0, settings) {
            FanOut::Nothing => None,
            // What is pulled is still to be named to those who are connected.
            FanOut::Pulled | FanOut::Pages(_) => {
                items.push(self.begin(&said, now, ACTION)?);
                Some(said)
            }
        };
        items.extend(with);
        let outcome = transact(&self.client, ACTION, items, token).await?;
        if matches!(outcome, Transacted::Committed) {
            return Ok(Created::Created(told));
        }
        match (once, outcome.refused(once_at)) {
            (Some((request, _)), Some(met)) => {
                Ok(Created::Before(Idempotency::read_claim(met, request)?))
            }
            // Ids are random: who finds the post there has written it.
            _ if outcome.refused(0).is_some() => Ok(Created::Created(told)),
            _ => Ok(Created::Moved),
        }
    }

    /// Replaces a post by its next version: an edit, or what an admin decided. If that brings it to
    /// people whom it was kept from, it is fanned out.
    pub async fn amend(
        &self,
        before: &Post,
        after: &Post,
        now: Timestamp,
        token: &str,
    ) -> Result<Amended, Failure> {
        const ACTION: &str = "change the post";
        let mut items = vec![self.next_post(before, after, ACTION)?];
        let said = after.is_wider_than(before).then(|| Message::created(after));
        if let Some(said) = &said {
            items.push(self.begin(said, now, ACTION)?);
        }
        match transact(&self.client, ACTION, items, token).await? {
            Transacted::Committed => Ok(Amended::Amended(said)),
            Transacted::Refused(_) => Ok(Amended::Moved),
        }
    }

    /// Replaces `before` by its tombstone, takes it out of its author's row, and says that timelines are to
    /// be purged. `with` is what else belongs to it.
    pub async fn delete(
        &self,
        (before, after): (&Post, &Post),
        author: &Author,
        with: Vec<TransactWriteItem>,
        settings: &Settings,
        now: Timestamp,
        token: &str,
    ) -> Result<Amended, Failure> {
        const ACTION: &str = "delete the post";
        let mut recents = author.recents.clone();
        recents.remove(before.id);
        let mut items = vec![
            self.next_post(before, after, ACTION)?,
            self.author_row(&before.author, &recents, author.version, ACTION)?,
        ];
        let purged = matches!(purge(after, 0, settings), FanOut::Pages(_));
        let said = purged.then(|| Message::deleted(after));
        if let Some(said) = &said {
            items.push(self.begin(said, now, ACTION)?);
        }
        items.extend(with);
        match transact(&self.client, ACTION, items, token).await? {
            Transacted::Committed => Ok(Amended::Amended(said)),
            Transacted::Refused(_) => Ok(Amended::Moved),
        }
    }

    /// The next version of a post. Its totals, which others write, stay.
    fn next_post(
        &self,
        before: &Post,
        after: &Post,
        action: &'static str,
    ) -> Result<TransactWriteItem, Failure> {
        const KEEPS: &str = "SET body = :body, v = :after, edited_at = :edited, \
                             deleted_at = :deleted, hidden_at = :hidden";
        const COOLS: &str = "SET body = :body, v = :after, edited_at = :edited, \
                             deleted_at = :deleted, hidden_at = :hidden REMOVE gsi2pk, gsi2sk";
        const ENDS: &str = "SET body = :body, v = :after, edited_at = :edited, \
                            deleted_at = :deleted, hidden_at = :hidden \
                            REMOVE shares, gsi1pk, gsi1sk, gsi2pk, gsi2sk";
        let expression = if after.deleted_at.is_some() {
            ENDS
        } else if after.is_gone() || after.body.privacy != Privacy::Public {
            COOLS
        } else {
            KEEPS
        };
        let mut body = rows::plain(&HashMap::from([("body", &after.body)]))?;
        let body = body.remove("body").ok_or_else(|| broken("body"))?;
        let at = |at: Option<Timestamp>| {
            at.map_or(AttributeValue::Null(true), |at| text(at.to_string()))
        };
        let change = Change::of(rows::post_key(before.id), expression)
            .given("v = :before")
            .with(":before", number(before.version))
            .with(":after", number(after.version))
            .with(":body", body)
            .with(":edited", at(after.edited_at))
            .with(":deleted", at(after.deleted_at))
            .with(":hidden", at(after.hidden_at));
        self.changing(change, action)
    }

    pub(super) fn author_row(
        &self,
        author: &UserId,
        recents: &Recents,
        before: u64,
        action: &'static str,
    ) -> Result<TransactWriteItem, Failure> {
        self.next_row(author_row(author, recents, before + 1), before, action)
    }
}

fn new_row(post: &Post) -> Result<Item, Failure> {
    let mut item = rows::plain(post)?;
    item.extend(rows::post_key(post.id));
    item.insert(GSI1_PK.to_owned(), text(rows::posts_of(&post.author)));
    item.insert(GSI1_SK.to_owned(), text(post.id.text()));
    Ok(item)
}

/// A hundred names are 1,400 bytes: as text the row would cost twice as much with each post.
fn author_row(author: &UserId, recents: &Recents, version: u64) -> Item {
    let names: Vec<u8> = recents.posts.iter().flat_map(|post| post.bytes()).collect();
    let Reach { mode, epoch } = recents.reach;
    let mut item = Builder::default()
        .with_some("posts", (!names.is_empty()).then(|| bytes(&names)))
        .with_some("cut", recents.cut.map(|post| text(post.text())))
        .with_some("last_pulled", recents.last_pulled.map(|post| text(post.text())))
        .with("reach", text(mode_name(mode)))
        .with("epoch", number(epoch))
        .with("v", number(version))
        .build();
    item.extend(rows::author_key(author));
    item
}

fn read_author(item: &Item) -> Result<Author, Failure> {
    let row = Row(item);
    let names = if item.contains_key("posts") { row.bytes("posts")? } else { &[] };
    let names = names.chunks_exact(PostId::BYTES).filter_map(|name| name.try_into().ok());
    let post = |name| {
        let id = row.maybe_text(name).map(PostId::parse);
        id.map(|id| id.ok_or_else(|| broken(name))).transpose()
    };
    let mode = row.text("reach")?;
    let mode = [Mode::Pushed, Mode::Rising, Mode::Pulled]
        .into_iter()
        .find(|known| mode_name(*known) == mode)
        .ok_or_else(|| broken("reach"))?;
    let recents = Recents {
        posts: names.map(PostId::from_bytes).collect(),
        cut: post("cut")?,
        last_pulled: post("last_pulled")?,
        reach: Reach { mode, epoch: row.number("epoch")? },
    };
    Ok(Author { recents, version: row.number("v")? })
}

const fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Pushed => "pushed",
        Mode::Rising => "rising",
        Mode::Pulled => "pulled",
    }
}
