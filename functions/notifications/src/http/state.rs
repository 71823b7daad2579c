//! What the handlers share, and what all of them ask for.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::store::Notifications;
use boundary::http::{Call, Problem};
use boundary::telemetry::Log;
use boundary::{Entropy, Host, Misconfigured};
use domain::accounts::{Principal, Role, UserId};
use domain::notifications::due::{Schedule, schedule};
use domain::notifications::token::KeyRing;
use domain::notifications::{Delivery, Rejected, Status, Template, TemplateId, TemplateVersion};
use domain::{Failure, Result, Timestamp};
use futures::{StreamExt, stream};
use messaging::{DeliveryQueues, DueTopic};

use crate::delivery_queues;

use crate::http::callbacks::CallbackSecrets;

/// How long an instance caches which version of a template is active.
const CACHE_TTL_MS: i64 = 5_000;

/// Messages in one call, and calls at the same time.
const BATCH: usize = 10;
const CONCURRENCY: usize = 8;

#[derive(Debug)]
pub struct App {
    pub(crate) notifications: Notifications,
    pub(crate) entropy: Entropy,
    pub(crate) key_ring: Option<KeyRing>,
    pub(crate) secrets: CallbackSecrets,
    pub(crate) public_url: String,
    topic: DueTopic,
    queues: DeliveryQueues,
    log: Log,
    templates: Mutex<HashMap<TemplateId, (Timestamp, Template)>>,
}

impl App {
    pub(crate) fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        Ok(Self {
            notifications: Notifications::from_host(host)?,
            entropy: host.entropy.clone(),
            key_ring: host.token_ring()?,
            secrets: CallbackSecrets::from_host(host)?,
            public_url: host.vars.optional("PUBLIC_URL").unwrap_or_default().to_owned(),
            topic: DueTopic::new(host.aws.sns(), host.vars.required("NOTIFICATIONS_TOPIC")?),
            queues: delivery_queues(host)?,
            log: host.log.clone(),
            templates: Mutex::default(),
        })
    }

    /// Sends a message for each delivery that waits. The sweep sends those that fail here, and those that
    /// lie further ahead than a queue's longest delay.
    pub(crate) async fn enqueue(&self, deliveries: &[Delivery], call: &Call) {
        let (mut due, mut later) = (Vec::new(), Vec::new());
        for delivery in deliveries.iter().filter(|it| it.status == Status::Pending) {
            match schedule(delivery.ready_at, call.now) {
                Schedule::Queue { delay_seconds: 0 } => due.push(delivery),
                Schedule::Queue { delay_seconds } => later.push((delivery, delay_seconds)),
                Schedule::Bucket => {}
            }
        }
        let traceparent = call.trace.traceparent();
        let published = due
            .chunks(BATCH)
            .map(|some| self.topic.publish_due(some.iter().copied(), &traceparent));
        let published: Vec<_> = published.collect();
        let published: Vec<_> =
            stream::iter(published).buffer_unordered(CONCURRENCY).collect().await;
        let later = self.queues.send_due(later, &traceparent).await;
        for failure in published.into_iter().chain([later]).filter_map(Result::err) {
            self.warn(&failure, call);
        }
    }

    pub(crate) async fn publish_preferences_narrowed(&self, user: &UserId, call: &Call) -> Result {
        self.topic.publish_preferences_narrowed(user, &call.trace.traceparent()).await
    }

    /// Logs a failure that does not fail the call.
    pub(crate) fn warn(&self, failure: &Failure, call: &Call) {
        self.log.warn(call.now, &call.trace, &failure.chain());
    }

    /// The template of that name, as it is now: 404 if there is none.
    pub(crate) async fn existing_template(&self, name: &str) -> Result<Template, Problem> {
        let unknown = || Problem::from(Rejected::UnknownTemplate(name.to_owned()));
        let id = TemplateId::parse(name).map_err(|_| unknown())?;
        self.notifications.template(&id).await?.ok_or_else(unknown)
    }

    /// Which version of a template is active, as it was within the last few seconds.
    pub(crate) async fn template(
        &self,
        id: &TemplateId,
        now: Timestamp,
    ) -> Result<Template, Problem> {
        let known = self.templates.lock().get(id).filter(|(at, _)| is_fresh(*at, now)).cloned();
        if let Some((_, template)) = known {
            return Ok(template);
        }
        let found = self.notifications.template(id).await?;
        let template = found.ok_or_else(|| Rejected::UnknownTemplate(id.as_str().to_owned()))?;
        self.cache(&template, now);
        Ok(template)
    }

    /// Caches a template that was just read or changed.
    pub(crate) fn cache(&self, template: &Template, now: Timestamp) {
        let mut templates = self.templates.lock();
        templates.retain(|_, (at, _)| is_fresh(*at, now));
        templates.insert(template.id.clone(), (now, template.clone()));
    }

    pub(crate) async fn version(
        &self,
        id: &TemplateId,
        number: u32,
    ) -> Result<Arc<TemplateVersion>, Problem> {
        let unknown = || Rejected::UnknownTemplate(format!("{} v{number}", id.as_str()));
        let found = self.notifications.template_version(id, number).await?;
        Ok(found.ok_or_else(unknown)?)
    }
}

/// Whether a caller may send notifications, and so may read those of every user.
pub(crate) fn may_send(caller: &Principal) -> bool {
    caller.is_admin() || caller.roles.contains(Role::Notifier)
}

fn is_fresh(at: Timestamp, now: Timestamp) -> bool {
    (0..CACHE_TTL_MS).contains(&(now.as_millisecond() - at.as_millisecond()))
}
