//! What the feed says to itself. Rows are the truth; a message says "look".

use serde::{Deserialize, Serialize};

use super::fan_out::PageOfFollowers;
use super::{Post, PostId};
use crate::Timestamp;
use crate::accounts::UserId;

/// Any message of this system, told apart by `type`. Fields that a reader does not know are passed
/// over, so that old and new functions can run side by side during a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum Message {
    /// A post was written, or may now be read by more people than its author.
    PostCreated {
        /// Format version; 1.
        v: u8,
        post_id: PostId,
        author: UserId,
        /// The version of the post from which on others may read it.
        version: u64,
    },
    /// A post was deleted: references to it can go.
    PostDeleted {
        /// Format version; 1.
        v: u8,
        post_id: PostId,
        author: UserId,
    },
    /// A page of an author's followers is to be worked through.
    FanOutPage {
        /// Format version; 1.
        v: u8,
        author: UserId,
        task: Task,
        /// Which of them.
        page: PageOfFollowers,
    },
    /// Somebody began to follow: what was said before is brought to them, and followers are counted.
    Followed {
        /// Format version; 1.
        v: u8,
        follower: UserId,
        author: UserId,
        /// The version of what is between them.
        version: u64,
    },
    /// Somebody no longer follows: followers are counted.
    Unfollowed {
        /// Format version; 1.
        v: u8,
        follower: UserId,
        author: UserId,
    },
    /// An author has begun to rise: followers are marked.
    ReachCrossed {
        /// Format version; 1.
        v: u8,
        author: UserId,
        /// The epoch that it was in.
        epoch: u64,
    },
    /// Somebody is back after a week: their timeline is rebuilt.
    ReaderReturned {
        /// Format version; 1.
        v: u8,
        reader: UserId,
        epoch: u64,
    },
    /// Somebody was noted to be here: their timeline is trimmed, and marks that are outlived go.
    ReaderSeen {
        /// Format version; 1.
        v: u8,
        reader: UserId,
    },
    /// Somebody has connected a moment ago: what was on its way when they did is named to them.
    Connected {
        /// Format version; 1.
        v: u8,
        reader: UserId,
        connection: String,
        since: Timestamp,
    },
    /// A post that is pulled was written: it is named to those who are connected, page by page.
    AudiencePage {
        /// Format version; 1.
        v: u8,
        post_id: PostId,
        author: UserId,
        /// After which connection.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    },
    /// A post's counters have moved: they are folded.
    CountsMoved {
        /// Format version; 1.
        v: u8,
        /// Of which post.
        post_id: PostId,
    },
}

/// What a page of followers is worked through for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Task {
    /// A reference for each who is active.
    Push {
        /// To which post.
        post_id: PostId,
        /// Since which version of it.
        version: u64,
    },
    /// No reference any more for those who are active.
    Purge {
        /// To which post.
        post_id: PostId,
    },
    /// A mark for each.
    Mark {
        /// Of which epoch.
        epoch: u64,
    },
}

impl Message {
    /// That a post was written.
    pub fn created(post: &Post) -> Self {
        let (author, version) = (post.author.clone(), post.version);
        Self::PostCreated { v: 1, post_id: post.id, author, version }
    }

    /// That a post was deleted.
    pub fn deleted(post: &Post) -> Self {
        Self::PostDeleted { v: 1, post_id: post.id, author: post.author.clone() }
    }

    /// That a page is to be worked through.
    pub const fn page(author: UserId, task: Task, page: PageOfFollowers) -> Self {
        Self::FanOutPage { v: 1, author, task, page }
    }

    /// What the work is called that this message begins, where a row says that there is such work until
    /// it is done: the sweep says the message again.
    pub fn work(&self) -> Option<String> {
        match self {
            Self::PostCreated { post_id, author, version, .. } => {
                Some(Task::Push { post_id: *post_id, version: *version }.work(author))
            }
            Self::PostDeleted { post_id, author, .. } => {
                Some(Task::Purge { post_id: *post_id }.work(author))
            }
            Self::ReachCrossed { author, epoch, .. } => {
                Some(Task::Mark { epoch: *epoch }.work(author))
            }
            Self::Followed { follower, author, version, .. } => {
                let (one, two) = (follower.as_str(), author.as_str());
                Some(format!("follow#{}#{one}#{two}#{version}", one.len()))
            }
            Self::FanOutPage { .. }
            | Self::Unfollowed { .. }
            | Self::ReaderReturned { .. }
            | Self::ReaderSeen { .. }
            | Self::Connected { .. }
            | Self::AudiencePage { .. }
            | Self::CountsMoved { .. } => None,
        }
    }

    /// Its name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::PostCreated { .. } => "PostCreated",
            Self::PostDeleted { .. } => "PostDeleted",
            Self::FanOutPage { .. } => "FanOutPage",
            Self::Followed { .. } => "Followed",
            Self::Unfollowed { .. } => "Unfollowed",
            Self::ReachCrossed { .. } => "ReachCrossed",
            Self::ReaderReturned { .. } => "ReaderReturned",
            Self::ReaderSeen { .. } => "ReaderSeen",
            Self::Connected { .. } => "Connected",
            Self::AudiencePage { .. } => "AudiencePage",
            Self::CountsMoved { .. } => "CountsMoved",
        }
    }

    /// Whom a message is about: who has many messages holds up nobody else.
    pub fn group(&self) -> String {
        match self {
            Self::PostCreated { author, .. }
            | Self::PostDeleted { author, .. }
            | Self::FanOutPage { author, .. }
            | Self::Unfollowed { author, .. }
            | Self::AudiencePage { author, .. }
            | Self::ReachCrossed { author, .. } => author.as_str().to_owned(),
            Self::Followed { follower: reader, .. }
            | Self::ReaderReturned { reader, .. }
            | Self::ReaderSeen { reader, .. }
            | Self::Connected { reader, .. } => reader.as_str().to_owned(),
            Self::CountsMoved { post_id, .. } => post_id.text(),
        }
    }
}

impl Task {
    /// What the work on an author's followers is called.
    pub fn work(self, author: &UserId) -> String {
        match self {
            Self::Push { post_id, version } => format!("push#{post_id}#{version}"),
            Self::Purge { post_id } => format!("purge#{post_id}"),
            Self::Mark { epoch } => format!("mark#{}#{epoch}", author.as_str()),
        }
    }
}

#[cfg(test)]
mod tests;
