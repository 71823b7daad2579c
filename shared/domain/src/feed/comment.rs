//! A comment on a post.

use serde::{Deserialize, Serialize};

use super::post::checked_text;
use super::{CommentId, Post, PostId, Rejected, Relationship};
use crate::Timestamp;
use crate::accounts::UserId;

/// Characters of a comment, at most.
pub const MAX_COMMENT_LENGTH: usize = 2_000;

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    pub id: CommentId,
    pub post: PostId,
    pub author: UserId,
    /// The words; none once it is deleted.
    pub text: String,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
}

/// Says which: words are in no log.
impl std::fmt::Debug for Comment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Comment({} on {})", self.id.text(), self.post)
    }
}

/// A comment, as a caller writes it.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommentDraft {
    pub text: String,
}

impl CommentDraft {
    /// The comment, on a post that its author may see.
    pub fn checked(
        &self,
        id: CommentId,
        post: PostId,
        author: UserId,
        now: Timestamp,
    ) -> Result<Comment, Rejected> {
        let text = checked_text("text", &self.text, MAX_COMMENT_LENGTH)?;
        if text.is_empty() {
            return Err(Rejected::field("text", "at least a character"));
        }
        Ok(Comment { id, post, author, text, created_at: now, deleted_at: None })
    }
}

impl Comment {
    /// Whether it is shown to a reader who may see its post. `relationship` is the reader's with the user who
    /// wrote the comment.
    pub fn is_shown(&self, relationship: &Relationship, reader: &UserId) -> bool {
        self.deleted_at.is_none()
            && (self.author == *reader || !(relationship.is_blocked() || relationship.mine.mutes))
    }

    /// Without its words. Its author may do that, and the post's. `None` if they are gone.
    pub fn deleted(
        &self,
        post: &Post,
        by: &UserId,
        now: Timestamp,
    ) -> Result<Option<Self>, Rejected> {
        if self.author != *by && post.author != *by {
            return Err(Rejected::UnknownComment);
        }
        let gone = Self { text: String::new(), deleted_at: Some(now), ..self.clone() };
        Ok(self.deleted_at.is_none().then_some(gone))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::Side;
    use crate::feed::samples::{at, id, person, post};

    fn comment() -> Comment {
        let draft = CommentDraft { text: " well said ".to_owned() };
        draft.checked(CommentId::made_from(at(2), [1; 8]), id(1), person(2), at(2)).unwrap()
    }

    #[test]
    fn comments_are_short_and_not_empty() {
        assert_eq!(comment().text, "well said");
        for text in [String::new(), " ".to_owned(), "x".repeat(MAX_COMMENT_LENGTH + 1)] {
            let draft = CommentDraft { text };
            let made = draft.checked(comment().id, id(1), person(2), at(2));
            assert!(matches!(made, Err(Rejected::Field { field, .. }) if field == "text"));
        }
    }

    #[test]
    fn two_people_may_take_a_comment_back() {
        let post = post(1, 1);
        for by in [person(1), person(2)] {
            let gone = comment().deleted(&post, &by, at(3)).unwrap().unwrap();
            assert!(gone.text.is_empty());
            assert_eq!(gone.deleted(&post, &by, at(4)), Ok(None));
            assert!(!gone.is_shown(&Relationship::default(), &person(9)));
        }
        assert_eq!(comment().deleted(&post, &person(3), at(3)), Err(Rejected::UnknownComment));
    }

    #[test]
    fn blocks_and_mutes_hide_comments_too() {
        let reader = person(9);
        assert!(comment().is_shown(&Relationship::default(), &reader));
        let blocks = Side { blocks: true, ..Side::default() };
        let mutes = Side { mutes: true, ..Side::default() };
        for relationship in [
            Relationship { mine: blocks, ..Relationship::default() },
            Relationship { theirs: blocks, ..Relationship::default() },
            Relationship { mine: mutes, ..Relationship::default() },
        ] {
            assert!(!comment().is_shown(&relationship, &reader));
        }
        assert!(
            comment().is_shown(&Relationship { theirs: mutes, ..Relationship::default() }, &reader)
        );
    }
}
