//! Writing what was accepted: one transaction for one person, as many as it takes for many.

use crate::store::{AcceptOutcome, Acceptance, Recipient};
use boundary::http::{Accepted as Taken, Call, Problem, Repeatable, Result};
use boundary::idempotency::{self, RequestKey};
use boundary::telemetry::{Unit, measure, measure_by};
use domain::accounts::UserId;
use domain::hex;
use domain::notifications::{Delivery, NotificationId, Submission};
use futures::{StreamExt, TryStreamExt, stream};
use store::idempotency::Claim;

use super::{AcceptedOne, AcceptedView, Answer, Receipt, idempotent_request};
use crate::http::plan::{PlannedNotification, ResolvedContent};
use crate::http::state::App;
use crate::http::view::overall_status;

/// People who are read at the same time.
const CONCURRENCY: usize = 16;

pub(super) struct Batch<'a> {
    pub(super) app: &'a App,
    pub(super) call: &'a Call,
    pub(super) caller: &'a UserId,
    pub(super) submission: Submission,
    pub(super) content: ResolvedContent,
}

impl Batch<'_> {
    pub(super) async fn one(&self, user: &UserId, key: Option<&RequestKey>) -> Result<Answer> {
        let Self { app, call, caller, .. } = self;
        let recipient = app.notifications.recipient(user).await?;
        let id = NotificationId::new(call.now, app.entropy.bytes());
        let planned = self.planned(id, user, &recipient);
        let answer = Answer::first(&receipt(std::slice::from_ref(&planned)));
        let claimant = app.entropy.token();
        let request = key.map(|key| idempotent_request(key, caller, &claimant, call));
        let wanted = planned.acceptance();
        let request = request.as_ref().map(|request| (request, answer.stored()));
        match app.notifications.accept(wanted, request, call.now, &app.entropy.token()).await? {
            AcceptOutcome::Repeated(claim) => {
                idempotency::replay(claim, call.now).map(Repeatable::again)
            }
            AcceptOutcome::Created | AcceptOutcome::Existing => {
                count(&self.submission, 1);
                app.enqueue(&planned.deliveries, call).await;
                Ok(answer)
            }
        }
    }

    pub(super) async fn many(&self, key: Option<&RequestKey>) -> Result<Answer> {
        let Some(key) = key else { return self.write(None).await };
        let Self { app, call, caller, .. } = self;
        let once_store = app.notifications.idempotency();
        let claimant = app.entropy.token();
        let claim = idempotent_request(key, caller, &claimant, call);
        let ticket = match once_store.claim(&claim, call.now).await? {
            Claim::Won(ticket) => ticket,
            before @ (Claim::Answered(_) | Claim::Running(_) | Claim::Mismatch) => {
                return idempotency::replay(before, call.now).map(Repeatable::again);
            }
        };
        let written = self.write(Some(key)).await;
        let answer = idempotency::release_if_refused(once_store, Some(&ticket), written).await?;
        once_store.store_response(&ticket, answer.stored(), &app.entropy.token()).await?;
        Ok(answer)
    }

    async fn write(&self, key: Option<&RequestKey>) -> Result<Answer> {
        let Self { app, call, caller, .. } = self;
        let plan = |user: &UserId| {
            // Another body under a key that was forgotten is another call.
            let id = key.map_or_else(
                || NotificationId::new(call.now, app.entropy.bytes()),
                |key| {
                    let call = format!("{}#{}", key.text, hex(&key.fingerprint));
                    NotificationId::derived(caller, &call, user)
                },
            );
            let user = user.clone();
            async move {
                let recipient = app.notifications.recipient(&user).await?;
                Ok::<_, Problem>(self.planned(id, &user, &recipient))
            }
        };
        let plans: Vec<_> = self.submission.users.iter().map(plan).collect();
        let planned: Vec<PlannedNotification> =
            stream::iter(plans).buffered(CONCURRENCY).try_collect().await?;
        let wanted: Vec<Acceptance<'_>> =
            planned.iter().map(PlannedNotification::acceptance).collect();
        let token = || app.entropy.token();
        let accepted = app.notifications.accept_batch(&wanted, call.now, token).await?;
        count(&self.submission, accepted.created.len());
        let new = planned.iter().filter(|it| accepted.created.contains(&it.notification.id));
        let deliveries: Vec<Delivery> = new.flat_map(|it| it.deliveries.clone()).collect();
        app.enqueue(&deliveries, call).await;
        Ok(Answer::first(&receipt(&planned)))
    }

    fn planned(
        &self,
        id: NotificationId,
        user: &UserId,
        recipient: &Recipient,
    ) -> PlannedNotification {
        let Self { call, caller, submission, content, .. } = self;
        let notification = submission.notification(id, user, content.version(), caller, call.now);
        PlannedNotification::new(notification, submission, content, recipient, call.now)
    }
}

fn receipt(planned: &[PlannedNotification]) -> Receipt {
    let view = |it: &PlannedNotification| AcceptedOne {
        notification_id: it.notification.id.as_str().to_owned(),
        user_id: it.notification.user.as_str().to_owned(),
        status: overall_status(&it.deliveries),
    };
    Receipt(Taken(AcceptedView { notifications: planned.iter().map(view).collect() }))
}

fn count(submission: &Submission, accepted: usize) {
    let accepted = u32::try_from(accepted).unwrap_or(u32::MAX);
    measure("NotificationsAccepted", Unit::Count, accepted.into());
    let dimensions = vec![("Priority", submission.priority.name().to_owned())];
    measure_by("NotificationsAccepted", Unit::Count, accepted.into(), dimensions);
}
