//! The feed's table: posts, relationships, timelines, counts and pending work.
//!
//! Rows, all under the table's one key schema:
//!
//! | row | is |
//! |---|---|
//! | `post#P / post` | a post, with the totals of what is counted of it; on `gsi1` in its author's list, on `gsi2` while it is trending |
//! | `author#A / recents` | an author's newest posts and fan-out policy; changes with each post |
//! | `tie#A#B / tie` | the relationship of two users, each way, and their affinities |
//! | `followers#A / SLOT#F` | an author's followers, in the order of a hash; `#00` to `#15` in front of them count |
//! | `following#R / A` | whom a reader follows |
//! | `reader#R / reader`, `/ marks`, `/ seen` | last visit, from where on the timeline is complete, open connections; authors whose posts are pulled; posts that were shown |
//! | `timeline#R / P` | a reference; its key follows from the post, so a repeat changes nothing |
//! | `user#U / profile`, `user#U / engaged#P` | a user's profile; their likes, comments and shares of a post |
//! | `count#P#S / count` | one of a post's counters; on `gsi2` while it is not added up |
//! | `comments#P / C`, `reports#P / U` | a post's comments and reports; open reports are on `gsi1` |
//! | `trending / MINUTE` | a snapshot of the trending posts |
//! | `conn#CONNECTION / conn` | whose connection it is |
//! | `audience#A / CONNECTION` | a connection whose reader pulls the author's posts |
//! | `work#S / NAME` | work that is not done, with the message that begins it |
//! | `once#…` | answers for repeated requests |
//!
//! An author's followers share a partition key: it splits by sort key as it grows, which the order of a hash
//! makes even. Absent: an item that each like, each follower or each reader of one post writes to; a
//! write that is not conditional and would change something when repeated; a read that may lag behind
//! where a deletion or a block has to be seen.

mod batch_write;
mod comments;
mod connections;
mod engagement;
mod fan_out_policy;
mod followers;
mod missed_posts;
mod pending_work;
mod posts;
mod profiles;
mod readers;
mod relationships;
mod reports;
mod requests;
mod rows;
mod timelines;
mod totals;
mod trending;

use aws_sdk_dynamodb::Client;
use boundary::{Host, Misconfigured};
use store::Idempotency;
use store::schema::{Projection, Schema};

pub use comments::{CommentOutcome, UncommentOutcome};
pub use connections::{AudiencePage, ConnectionOwner, ReaderConnection};
pub use engagement::{EngageOutcome, PreparedAction};
pub use pending_work::{FanOutState, PendingWork};
pub use posts::{AuthorRow, CreateOutcome, NewPost, StoredPost, UpdateOutcome};
pub use profiles::PostContext;
pub use readers::{Presence, ReaderState};
pub use relationships::{ActionOutcome, StoredRelationship};
pub use reports::{OpenReports, ReportOutcome};

/// Posts, relationships, timelines and counts. The first index lists and the rows are read after it; the
/// second one carries what trending posts are scored by.
pub const TABLE: Schema = Schema {
    logical_id: "FeedTable",
    variable: "FEED_TABLE",
    indexes: &[Projection::KeysOnly, Projection::Include(&["people"])],
    expiring: true,
};

#[derive(Debug, Clone)]
pub struct FeedStore {
    client: Client,
    table: String,
    once: Idempotency,
}

impl FeedStore {
    /// Works on the table that `FEED_TABLE` names.
    pub fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let table = host.vars.required(TABLE.variable)?;
        Ok(Self::new(host.aws.dynamodb(), table))
    }

    pub fn new(client: Client, table: impl Into<String>) -> Self {
        let table = table.into();
        let once = Idempotency::new(client.clone(), &table);
        Self { client, table, once }
    }

    /// The idempotency rows that live in the same table.
    pub const fn once(&self) -> &Idempotency {
        &self.once
    }
}
