//! The feed: posts, what is between people, timelines, and what is left to do about them.
//!
//! Rows, all under the table's one key schema:
//!
//! | row | is |
//! |---|---|
//! | `post#P / post` | a post, with the totals of what is counted of it; on `gsi1` in its author's list, on `gsi2` while it is hot |
//! | `author#A / recents` | the newest posts of somebody and how they reach people; changes with each post |
//! | `tie#A#B / tie` | what is between two people, each way, and how close they are |
//! | `followers#A / SLOT#F` | who follows somebody, in the order of a hash; `#00` to `#15` in front of them count |
//! | `following#R / A` | whom somebody follows |
//! | `reader#R / reader`, `/ marks`, `/ seen` | when somebody was last here, from where on their timeline is complete, by which connections they hear of what is new; whose posts they pull; what they were shown |
//! | `timeline#R / P` | a reference; its key follows from the post, so a repeat changes nothing |
//! | `user#U / profile`, `user#U / engaged#P` | what somebody shows of themselves; what they did about a post |
//! | `count#P#S / count` | one of a post's counters; on `gsi2` while it is not added up |
//! | `comments#P / C`, `reports#P / U` | what was said to a post, and against it; open reports are on `gsi1` |
//! | `trending / MINUTE` | what was hot |
//! | `conn#CONNECTION / conn` | whose connection it is |
//! | `audience#A / CONNECTION` | who is connected and pulls somebody's posts |
//! | `work#S / NAME` | work that is not done, with the message that begins it |
//! | `once#…` | answers for repeated requests |
//!
//! An author's followers share a partition key: it splits by sort key as it grows, which the order of a hash
//! makes even. Absent: an item that each like, each follower or each reader of one post writes to; a
//! write that is not conditional and would change something when repeated; a read that may lag behind
//! where a deletion or a block has to be seen.

mod batches;
mod comments;
mod engage;
mod fold;
mod hints;
mod lists;
mod people;
mod posts;
mod reach;
mod readers;
mod reports;
mod rows;
mod sockets;
mod ties;
mod timelines;
mod trending;
mod wire;
mod work;

use aws_sdk_dynamodb::Client;
use boundary::{Host, Misconfigured};
use store::Idempotency;
use store::schema::{Projection, Schema};

pub use comments::{Commented, Uncommented};
pub use engage::{Engagement, Engaging};
pub use people::Company;
pub use posts::{Amended, Author, Created, Entry, NewPost};
pub use readers::{Standing, Visitor};
pub use reports::{OpenReports, Reported};
pub use sockets::{Audience, Listener, Owner};
pub use ties::{Acted, Between};
pub use work::{Underway, Unfinished};

/// Posts, what is between people, timelines and what is counted. What is listed is read from the rows; what is
/// hot has to be weighed first.
pub const TABLE: Schema = Schema {
    logical_id: "FeedTable",
    variable: "FEED_TABLE",
    indexes: &[Projection::KeysOnly, Projection::Include(&["people"])],
    expiring: true,
};

/// The feed's rows.
#[derive(Debug, Clone)]
pub struct Feed {
    client: Client,
    table: String,
    once: Idempotency,
}

impl Feed {
    /// Works on the table that `FEED_TABLE` names.
    pub fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let table = host.vars.required(TABLE.variable)?;
        Ok(Self::new(host.aws.dynamodb(), table))
    }

    /// Works on `table`.
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
