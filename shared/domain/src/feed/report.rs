//! A user reports a post, and an admin decides.
//!
//! OPEN → DISMISSED or UPHELD. A report is identified by its post and reporter, so the same person
//! saying it again changes nothing. Absent: a ruling that another one overwrites.

use serde::{Deserialize, Serialize};

use super::post::checked_text;
use super::{Post, PostId, Rejected};
use crate::Timestamp;
use crate::accounts::UserId;

const MAX_NOTE_LENGTH: usize = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ReportReason {
    Spam,
    Abuse,
    Violence,
    /// It poses as what it is not.
    Fraud,
    Other,
}

impl ReportReason {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Spam, "SPAM"),
        (Self::Abuse, "ABUSE"),
        (Self::Violence, "VIOLENCE"),
        (Self::Fraud, "FRAUD"),
        (Self::Other, "OTHER"),
    ];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Ruling {
    Dismissed,
    Upheld,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostReport {
    pub post: PostId,
    #[serde(rename = "by")]
    pub reporter: UserId,
    #[serde(rename = "complaint")]
    pub reason: ReportReason,
    pub note: String,
    pub created_at: Timestamp,
    /// What was decided, by whom and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<(Ruling, UserId, Timestamp)>,
}

/// Says which: words are in no log.
impl std::fmt::Debug for PostReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Report({} for {:?})", self.post, self.reason)
    }
}

/// A report, as a caller writes it.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReportDraft {
    /// `SPAM`, `ABUSE`, `VIOLENCE`, `FRAUD` or `OTHER`.
    pub reason: String,
    pub note: Option<String>,
}

impl ReportDraft {
    /// The report, of a post that the caller may see.
    pub fn checked(&self, post: &Post, by: UserId, now: Timestamp) -> Result<PostReport, Rejected> {
        if post.author == by {
            return Err(Rejected::field("postId", "another user's post"));
        }
        let known = ReportReason::ALL.into_iter().find(|(_, name)| *name == self.reason);
        let (reason, _) = known.ok_or_else(|| {
            Rejected::field("reason", "`SPAM`, `ABUSE`, `VIOLENCE`, `FRAUD` or `OTHER`")
        })?;
        let note = checked_text("note", self.note.as_deref().unwrap_or_default(), MAX_NOTE_LENGTH)?;
        Ok(PostReport { post: post.id, reporter: by, reason, note, created_at: now, ruling: None })
    }
}

impl PostReport {
    /// The report with a ruling, and the post if that changes it. `None` if there was a ruling.
    pub fn with_ruling(
        &self,
        ruling: Ruling,
        post: &Post,
        by: UserId,
        now: Timestamp,
    ) -> Option<(Self, Option<Post>)> {
        let hidden = (ruling == Ruling::Upheld).then(|| post.hidden(now)).flatten();
        let ruled = || Self { ruling: Some((ruling, by, now)), ..self.clone() };
        self.ruling.is_none().then(|| (ruled(), hidden))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::samples::{at, person, post};

    fn draft(reason: &str) -> ReportDraft {
        ReportDraft { reason: reason.to_owned(), note: None }
    }

    #[test]
    fn a_report_names_a_reason_and_is_not_of_oneself() {
        for (reason, name) in ReportReason::ALL {
            let report = draft(name).checked(&post(1, 1), person(2), at(2)).unwrap();
            assert_eq!(report.reason, reason);
            assert_eq!(serde_json::to_string(&reason).unwrap(), format!("\"{name}\""));
        }
        assert!(draft("RUDE").checked(&post(1, 1), person(2), at(2)).is_err());
        assert!(draft("SPAM").checked(&post(1, 1), person(1), at(2)).is_err());
        let long = ReportDraft { note: Some("x".repeat(1_001)), ..draft("SPAM") };
        assert!(long.checked(&post(1, 1), person(2), at(2)).is_err());
    }

    #[test]
    fn the_first_ruling_stands() {
        let report = draft("SPAM").checked(&post(1, 1), person(2), at(2)).unwrap();
        let (upheld, hidden) =
            report.with_ruling(Ruling::Upheld, &post(1, 1), person(3), at(3)).unwrap();
        assert!(hidden.unwrap().is_gone());
        assert_eq!(upheld.with_ruling(Ruling::Dismissed, &post(1, 1), person(3), at(4)), None);
        let (_, kept) =
            report.with_ruling(Ruling::Dismissed, &post(1, 1), person(3), at(3)).unwrap();
        assert_eq!(kept, None);
        let gone = post(1, 1).deleted(at(2)).unwrap();
        assert_eq!(report.with_ruling(Ruling::Upheld, &gone, person(3), at(3)).unwrap().1, None);
    }
}
