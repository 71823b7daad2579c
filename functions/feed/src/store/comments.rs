//! Comments, oldest first.

use aws_sdk_dynamodb::types::{Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem};
use domain::accounts::UserId;
use domain::feed::{Comment, CommentId, PostAction, PostId};
use domain::{Failure, Result, Timestamp};

use super::engagement::PostActionEnd;
use super::posts::StoredPost;
use super::relationships::StoredRelationship;
use super::requests::RangeQuery;
use super::{FeedStore, rows};
use store::Idempotency;
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};
use store::row::{key, text};
use store::transaction::put;

#[derive(Debug, PartialEq, Eq)]
pub enum CommentOutcome {
    Created {
        /// Whether `CountsMoved` is to be sent.
        aggregation_due: bool,
    },
    /// The call was made before: its answer, or why there is none.
    Replayed(Claim),
    /// A row that was read has changed; read again.
    Conflict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UncommentOutcome {
    Deleted {
        /// Whether `CountsMoved` is to be sent.
        aggregation_due: bool,
    },
    /// They were gone already.
    Unchanged,
    /// Its author's row has changed; read again.
    Conflict,
}

impl FeedStore {
    /// Writes a comment on a post that its author may see, counts it, and keeps the answer for a repeat.
    pub async fn comment(
        &self,
        comment: &Comment,
        entry: &StoredPost,
        relation: &StoredRelationship,
        once: Option<(&IdempotentRequest<'_>, &StoredResponse)>,
        now: Timestamp,
        token: &str,
    ) -> Result<CommentOutcome> {
        let mut with = vec![self.comment_row(comment, "attribute_not_exists(pk)")?];
        if let Some((request, answer)) = once {
            with.push(self.once.claim_with_response(request, answer, now)?);
        }
        let act = (&comment.author, PostAction::Comment);
        let (ended, own) =
            match self.engage_in_transaction(act, entry, relation, &with, now, token).await? {
                PostActionEnd::Counted { aggregation_due } => {
                    return Ok(CommentOutcome::Created { aggregation_due });
                }
                // Only at 2^32 comments.
                PostActionEnd::Unchanged => return Ok(CommentOutcome::Conflict),
                PostActionEnd::Refused { ended, with } => (ended, with),
            };
        match (once, ended.refused(own + 1)) {
            (Some((request, _)), Some(met)) => {
                Ok(CommentOutcome::Replayed(Idempotency::read_claim(met, request)?))
            }
            // Ids are random: who finds the comment there has written it.
            _ if ended.refused(own).is_some() => {
                Ok(CommentOutcome::Created { aggregation_due: true })
            }
            _ => Ok(CommentOutcome::Conflict),
        }
    }

    pub async fn find_comment(&self, post: PostId, id: CommentId) -> Result<Option<Comment>> {
        let found = self.get(key(&rows::comments_pk(post), &id.text()), "read the comment").await?;
        found.as_ref().map(rows::from_item).transpose()
    }

    /// Comments on a post after one of them, oldest first, those whose words are gone among them.
    pub async fn comments(
        &self,
        post: PostId,
        after: Option<CommentId>,
        limit: usize,
    ) -> Result<Vec<Comment>> {
        let after = after.map_or_else(|| " ".to_owned(), CommentId::text);
        let range = RangeQuery {
            condition: "pk = :post AND sk > :after",
            values: vec![(":post", text(rows::comments_pk(post))), (":after", text(after))],
            limit: Some(limit),
            ..RangeQuery::default()
        };
        let found = self.query(range, "list comments").await?;
        found.iter().map(rows::from_item).collect()
    }

    /// Replaces a comment by what is left of it, which says when, and no longer counts it.
    pub async fn uncomment(
        &self,
        gone: &Comment,
        entry: &StoredPost,
        now: Timestamp,
        token: &str,
    ) -> Result<UncommentOutcome> {
        let there = "attribute_exists(pk) AND attribute_not_exists(deleted_at)";
        let with = [self.comment_row(gone, there)?];
        let author: &UserId = &gone.author;
        let (act, relation) = ((author, PostAction::Uncomment), StoredRelationship::default());
        match self.engage_in_transaction(act, entry, &relation, &with, now, token).await? {
            PostActionEnd::Counted { aggregation_due } => {
                Ok(UncommentOutcome::Deleted { aggregation_due })
            }
            PostActionEnd::Unchanged => Ok(UncommentOutcome::Unchanged),
            PostActionEnd::Refused { ended, with } if ended.refused(with).is_some() => {
                Ok(UncommentOutcome::Unchanged)
            }
            PostActionEnd::Refused { .. } => Ok(UncommentOutcome::Conflict),
        }
    }

    fn comment_row(&self, comment: &Comment, condition: &'static str) -> Result<TransactWriteItem> {
        let mut item = rows::to_item(comment)?;
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
