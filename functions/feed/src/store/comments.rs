//! What is said to posts, oldest first.

use aws_sdk_dynamodb::types::{Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem};
use domain::accounts::UserId;
use domain::feed::{Comment, CommentId, Engage, PostId};
use domain::{Failure, Timestamp};

use super::engage::Ended;
use super::posts::Entry;
use super::ties::Between;
use super::wire::Stretch;
use super::{Feed, rows};
use store::Idempotency;
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};
use store::row::{key, text};
use store::transaction::put;

/// What came of a comment.
#[derive(Debug, PartialEq, Eq)]
pub enum Commented {
    /// It is there.
    Written {
        /// Whether `CountsMoved` is to be said.
        told: bool,
    },
    /// The call was made before: its answer, or why there is none.
    Before(Claim),
    /// Something that it was decided by is not what it was; look again.
    Moved,
}

/// What came of taking one back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncommented {
    /// Its words are gone.
    Gone {
        /// Whether `CountsMoved` is to be said.
        told: bool,
    },
    /// They were gone already.
    Same,
    /// Its author did something else meanwhile; look again.
    Moved,
}

impl Feed {
    /// Writes a comment on a post that its author may see, counts it, and keeps the answer for a repeat.
    pub async fn comment(
        &self,
        comment: &Comment,
        entry: &Entry,
        between: &Between,
        once: Option<(&IdempotentRequest<'_>, &StoredResponse)>,
        now: Timestamp,
        token: &str,
    ) -> Result<Commented, Failure> {
        let mut with = vec![self.comment_row(comment, "attribute_not_exists(pk)")?];
        if let Some((request, answer)) = once {
            with.push(self.once.claim_with_response(request, answer, now)?);
        }
        let act = (&comment.author, Engage::Comment);
        let (ended, own) = match self.engage_with(act, entry, between, &with, now, token).await? {
            Ended::Counted { told } => return Ok(Commented::Written { told }),
            // Nobody has written so many.
            Ended::Same => return Ok(Commented::Moved),
            Ended::Refused { ended, with } => (ended, with),
        };
        match (once, ended.refused(own + 1)) {
            (Some((request, _)), Some(met)) => {
                Ok(Commented::Before(Idempotency::read_claim(met, request)?))
            }
            // Ids are random: who finds the comment there has written it.
            _ if ended.refused(own).is_some() => Ok(Commented::Written { told: true }),
            _ => Ok(Commented::Moved),
        }
    }

    /// Reads a comment, up to date.
    pub async fn find_comment(
        &self,
        post: PostId,
        id: CommentId,
    ) -> Result<Option<Comment>, Failure> {
        let found = self.get(key(&rows::comments_pk(post), &id.text()), "read the comment").await?;
        found.as_ref().map(rows::read).transpose()
    }

    /// Comments on a post after one of them, oldest first, those whose words are gone among them.
    pub async fn comments(
        &self,
        post: PostId,
        after: Option<CommentId>,
        limit: usize,
    ) -> Result<Vec<Comment>, Failure> {
        let after = after.map_or_else(|| " ".to_owned(), CommentId::text);
        let stretch = Stretch {
            condition: "pk = :post AND sk > :after",
            values: vec![(":post", text(rows::comments_pk(post))), (":after", text(after))],
            limit: Some(limit),
            ..Stretch::default()
        };
        let found = self.query(stretch, "list comments").await?;
        found.iter().map(rows::read).collect()
    }

    /// Replaces a comment by what is left of it, which says when, and no longer counts it.
    pub async fn uncomment(
        &self,
        gone: &Comment,
        entry: &Entry,
        now: Timestamp,
        token: &str,
    ) -> Result<Uncommented, Failure> {
        let there = "attribute_exists(pk) AND attribute_not_exists(deleted_at)";
        let with = [self.comment_row(gone, there)?];
        let author: &UserId = &gone.author;
        let (act, between) = ((author, Engage::Uncomment), Between::default());
        match self.engage_with(act, entry, &between, &with, now, token).await? {
            Ended::Counted { told } => Ok(Uncommented::Gone { told }),
            Ended::Same => Ok(Uncommented::Same),
            Ended::Refused { ended, with } if ended.refused(with).is_some() => {
                Ok(Uncommented::Same)
            }
            Ended::Refused { .. } => Ok(Uncommented::Moved),
        }
    }

    fn comment_row(
        &self,
        comment: &Comment,
        condition: &'static str,
    ) -> Result<TransactWriteItem, Failure> {
        let mut item = rows::plain(comment)?;
        item.extend(key(&rows::comments_pk(comment.post), &comment.id.text()));
        Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression(condition)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()
            .map(put)
            .map_err(|cause| Failure::new("write the comment", cause))
    }
}
