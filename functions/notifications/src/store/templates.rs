//! Templates: versions that never change, and which of them is used.

use std::sync::Arc;

use domain::notifications::{Template, TemplateId, TemplateVersion};
use domain::{Result, Timestamp};

use super::{Notifications, SaveOutcome, rows};
use store::Idempotency;
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};
use store::row::key;
use store::transaction::{Transacted, transact};

/// Cached versions; when there are more, the cache is cleared.
const MAX_VERSIONS: usize = 500;

const TEMPLATE: &str = "template";

#[derive(Debug, PartialEq, Eq)]
pub enum PublishOutcome {
    Published,
    /// The call was made before: its answer, or why there is none.
    Repeated(Claim),
    /// The template has changed since it was read; read it again.
    Conflict,
}

impl Notifications {
    /// Reads which versions of a template there are, up to date.
    pub async fn template(&self, id: &TemplateId) -> Result<Option<Template>> {
        let found = self.get(key(&rows::template_pk(id), TEMPLATE), "read the template").await?;
        found.as_ref().map(rows::from_item).transpose()
    }

    /// Reads a version of a template, which is cached.
    pub async fn template_version(
        &self,
        id: &TemplateId,
        number: u32,
    ) -> Result<Option<Arc<TemplateVersion>>> {
        let cached = self.versions.lock().get(&(id.clone(), number)).cloned();
        if cached.is_some() {
            return Ok(cached);
        }
        let key = key(&rows::template_pk(id), &rows::version_sk(number));
        let found = self.get(key, "read the template's version").await?;
        let Some(item) = found else { return Ok(None) };
        let version: Arc<TemplateVersion> = Arc::new(rows::from_item(&item)?);
        let mut versions = self.versions.lock();
        if versions.len() >= MAX_VERSIONS {
            versions.clear();
        }
        versions.insert((id.clone(), number), Arc::clone(&version));
        Ok(Some(version))
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
    ) -> Result<PublishOutcome> {
        const ACTION: &str = "publish the template";
        let pk = rows::template_pk(&after.id);
        let immutable = rows::to_keyed_item(&pk, &rows::version_sk(version.number), version)?;
        let before = after.version.saturating_sub(1);
        let mut items = vec![
            self.next_row(rows::to_keyed_item(&pk, TEMPLATE, after)?, before, ACTION)?,
            self.new_row(immutable, ACTION)?,
        ];
        let once_at = items.len();
        if let Some((request, answer)) = once {
            items.push(self.idempotency.claim_with_response(request, answer, now)?);
        }
        let outcome = transact(&self.client, ACTION, items, token).await?;
        match (once, outcome.refused(once_at)) {
            (Some((request, _)), Some(current)) => {
                Ok(PublishOutcome::Repeated(Idempotency::read_claim(current, request)?))
            }
            _ if matches!(outcome, Transacted::Committed) => Ok(PublishOutcome::Published),
            _ => Ok(PublishOutcome::Conflict),
        }
    }

    /// Replaces the version before `after` by it: which version is active.
    pub async fn activate(&self, after: &Template, token: &str) -> Result<SaveOutcome> {
        const ACTION: &str = "activate the template's version";
        let row = rows::to_keyed_item(&rows::template_pk(&after.id), TEMPLATE, after)?;
        // Only what is there can be activated, so there is a version before.
        let items = vec![self.next_row(row, after.version.saturating_sub(1).max(1), ACTION)?];
        Ok(match transact(&self.client, ACTION, items, token).await? {
            Transacted::Committed => SaveOutcome::Saved,
            Transacted::Refused(_) => SaveOutcome::Conflict,
        })
    }
}
