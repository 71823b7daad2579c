//! The feed's messages on SNS and SQS. They name rows to read and carry no state.

use serde::{Deserialize, Serialize};

use super::fan_out::FollowerPage;
use super::{Post, PostId};
use crate::Timestamp;
use crate::accounts::UserId;

/// Any message of this system, told apart by `type`; `v` is the format version, 1. Fields that a reader does not know are passed
/// over, so that old and new functions can run side by side during a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum FeedMessage {
    /// A post was written, or may now be read by more people than its author.
    PostCreated {
        v: u8,
        post_id: PostId,
        author: UserId,
        /// The version of the post from which on others may read it.
        version: u64,
    },
    /// A post was deleted: references to it can go.
    PostDeleted { v: u8, post_id: PostId, author: UserId },
    /// A page of an author's followers is to be worked through.
    FanOutPage { v: u8, author: UserId, task: FanOutTask, page: FollowerPage },
    /// A follow: earlier posts are backfilled, and followers are counted.
    Followed {
        v: u8,
        follower: UserId,
        author: UserId,
        /// The version of what is between them.
        version: u64,
    },
    /// An unfollow: followers are counted.
    Unfollowed { v: u8, follower: UserId, author: UserId },
    /// An author switches to pull: followers get a pull mark.
    ReachCrossed { v: u8, author: UserId, epoch: u64 },
    /// A reader is back after a week: their timeline is rebuilt.
    ReaderReturned { v: u8, reader: UserId, epoch: u64 },
    /// A visit was recorded: the timeline is trimmed, and obsolete pull marks are removed.
    ReaderSeen { v: u8, reader: UserId },
    /// A client connected a moment ago: posts that were on their way then are named to it.
    Connected { v: u8, reader: UserId, connection: String, since: Timestamp },
    /// A post that is pulled was written: it is named to those who are connected, page by page.
    AudiencePage {
        v: u8,
        post_id: PostId,
        author: UserId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    },
    /// A post's counters have changed: they are added up.
    CountsMoved { v: u8, post_id: PostId },
}

/// What a page of followers is worked through for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum FanOutTask {
    /// A reference for each who is active.
    Push {
        post_id: PostId,
        version: u64,
    },
    /// No reference any more for those who are active.
    Purge {
        post_id: PostId,
    },
    Mark {
        epoch: u64,
    },
}

impl FeedMessage {
    pub fn post_created(post: &Post) -> Self {
        let (author, version) = (post.author.clone(), post.version);
        Self::PostCreated { v: 1, post_id: post.id, author, version }
    }

    pub fn post_deleted(post: &Post) -> Self {
        Self::PostDeleted { v: 1, post_id: post.id, author: post.author.clone() }
    }

    pub const fn fan_out_page(author: UserId, task: FanOutTask, page: FollowerPage) -> Self {
        Self::FanOutPage { v: 1, author, task, page }
    }

    /// What the work is called that this message begins, where a row says that there is such work until
    /// it is done: the sweep says the message again.
    pub fn work_id(&self) -> Option<String> {
        match self {
            Self::PostCreated { post_id, author, version, .. } => {
                Some(FanOutTask::Push { post_id: *post_id, version: *version }.work_id(author))
            }
            Self::PostDeleted { post_id, author, .. } => {
                Some(FanOutTask::Purge { post_id: *post_id }.work_id(author))
            }
            Self::ReachCrossed { author, epoch, .. } => {
                Some(FanOutTask::Mark { epoch: *epoch }.work_id(author))
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

    pub const fn message_type(&self) -> &'static str {
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

    /// The SQS message group: an author or a reader with many messages delays no other.
    pub fn group_id(&self) -> String {
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

impl FanOutTask {
    /// What the work on an author's followers is called.
    pub fn work_id(self, author: &UserId) -> String {
        match self {
            Self::Push { post_id, version } => format!("push#{post_id}#{version}"),
            Self::Purge { post_id } => format!("purge#{post_id}"),
            Self::Mark { epoch } => format!("mark#{}#{epoch}", author.as_str()),
        }
    }
}

#[cfg(test)]
mod tests;
