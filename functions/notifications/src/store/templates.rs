//! Templates: versions that never change, and which of them is used.

use domain::notifications::{Template, TemplateId, TemplateVersion};
use domain::{Failure, Timestamp};

use super::{Notifications, Saved, rows};
use store::Idempotency;
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};
use store::row::key;
use store::transaction::{Transacted, transact};

const TEMPLATE: &str = "template";

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub enum Published {
    /// The version is there.
    Published,
    /// The call was made before: its answer, or why there is none.
    Before(Claim),
    /// Someone else has changed the template; read it again.
    Moved,
}

impl Notifications {
    /// Reads which versions of a template there are, up to date.
    pub async fn template(&self, id: &TemplateId) -> Result<Option<Template>, Failure> {
        let found = self.get(key(&rows::template_pk(id), TEMPLATE), "read the template").await?;
        found.as_ref().map(rows::read).transpose()
    }

    /// Reads a version of a template. It never changes, so it may be remembered for ever.
    pub async fn template_version(
        &self,
        id: &TemplateId,
        number: u32,
    ) -> Result<Option<TemplateVersion>, Failure> {
        let key = key(&rows::template_pk(id), &rows::version_sk(number));
        let found = self.get(key, "read the template's version").await?;
        found.as_ref().map(rows::read).transpose()
    }

    /// Writes a new version, and the template that `after` is with it. `once` is what a repeat of the
    /// call is told.
    pub async fn publish(
        &self,
        after: &Template,
        version: &TemplateVersion,
        once: Option<(&IdempotentRequest<'_>, &StoredResponse)>,
        now: Timestamp,
        token: &str,
    ) -> Result<Published, Failure> {
        const ACTION: &str = "publish the template";
        let pk = rows::template_pk(&after.id);
        let immutable = rows::keyed(&pk, &rows::version_sk(version.number), version)?;
        let before = after.version.saturating_sub(1);
        let mut items = vec![
            self.next_row(rows::keyed(&pk, TEMPLATE, after)?, before, ACTION)?,
            self.new_row(immutable, ACTION)?,
        ];
        let once_at = items.len();
        if let Some((request, answer)) = once {
            items.push(self.once.claim_with_response(request, answer, now)?);
        }
        let outcome = transact(&self.client, ACTION, items, token).await?;
        match (once, outcome.refused(once_at)) {
            (Some((request, _)), Some(met)) => {
                Ok(Published::Before(Idempotency::read_claim(met, request)?))
            }
            _ if matches!(outcome, Transacted::Committed) => Ok(Published::Published),
            _ => Ok(Published::Moved),
        }
    }

    /// Replaces the version before `after` by it: which version is active.
    pub async fn activate(&self, after: &Template, token: &str) -> Result<Saved, Failure> {
        const ACTION: &str = "activate the template's version";
        let row = rows::keyed(&rows::template_pk(&after.id), TEMPLATE, after)?;
        // Only what is there can be activated, so there is a version before.
        let items = vec![self.next_row(row, after.version.saturating_sub(1).max(1), ACTION)?];
        Ok(match transact(&self.client, ACTION, items, token).await? {
            Transacted::Committed => Saved::Saved,
            Transacted::Refused(_) => Saved::Moved,
        })
    }
}
