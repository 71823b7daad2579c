//! Writing what was accepted: one transaction for one person, as many as it takes for many.

use crate::store::{Accept, Accepted, Person};
use boundary::http::{Accepted as Taken, Call, Problem, Repeatable};
use boundary::idempotency::{self, RequestKey};
use boundary::telemetry::{Unit, measure, measure_by};
use domain::accounts::UserId;
use domain::hex;
use domain::notifications::{Delivery, NotificationId, Submission};
use futures::{StreamExt, TryStreamExt, stream};
use store::idempotency::Claim;

use super::{AcceptedOne, AcceptedView, Answer, Receipt, once};
use crate::http::plan::{Planned, Words};
use crate::http::state::App;
use crate::http::view::standing;

/// People who are read at the same time.
const AT_ONCE: usize = 16;

/// Whom a call tells what.
pub(super) struct Batch<'a> {
    pub(super) app: &'a App,
    pub(super) call: &'a Call,
    pub(super) caller: &'a UserId,
    pub(super) submission: Submission,
    pub(super) words: Words,
}

impl Batch<'_> {
    pub(super) async fn one(
        &self,
        user: &UserId,
        key: Option<&RequestKey>,
    ) -> Result<Answer, Problem> {
        let Self { app, call, caller, .. } = self;
        let person = app.notifications.person(user).await?;
        let id = NotificationId::made_from(call.now, app.entropy.bytes());
        let planned = self.planned(id, user, &person);
        let answer = Answer::first(&receipt(std::slice::from_ref(&planned)));
        let claimant = app.entropy.token();
        let once = key.map(|key| once(key, caller, &claimant, call));
        let wanted = planned.wanted();
        let once = once.as_ref().map(|once| (once, answer.stored()));
        match app.notifications.accept(wanted, once, call.now, &app.entropy.token()).await? {
            Accepted::Before(claim) => idempotency::replay(claim, call.now).map(Repeatable::again),
            Accepted::Created | Accepted::There => {
                count(&self.submission, 1);
                app.announce(&planned.deliveries, call).await;
                Ok(answer)
            }
        }
    }

    pub(super) async fn many(&self, key: Option<&RequestKey>) -> Result<Answer, Problem> {
        let Some(key) = key else { return self.write(None).await };
        let Self { app, call, caller, .. } = self;
        let once_store = app.notifications.once();
        let claimant = app.entropy.token();
        let claim = once(key, caller, &claimant, call);
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

    async fn write(&self, key: Option<&RequestKey>) -> Result<Answer, Problem> {
        let Self { app, call, caller, .. } = self;
        let plan = |user: &UserId| {
            // Another body under a key that was forgotten is another call.
            let id = key.map_or_else(
                || NotificationId::made_from(call.now, app.entropy.bytes()),
                |key| {
                    let call = format!("{}#{}", key.text, hex(&key.fingerprint));
                    NotificationId::derived(caller, &call, user)
                },
            );
            let user = user.clone();
            async move {
                let person = app.notifications.person(&user).await?;
                Ok::<_, Problem>(self.planned(id, &user, &person))
            }
        };
        let plans: Vec<_> = self.submission.users.iter().map(plan).collect();
        let planned: Vec<Planned> = stream::iter(plans).buffered(AT_ONCE).try_collect().await?;
        let wanted: Vec<Accept<'_>> = planned.iter().map(Planned::wanted).collect();
        let token = || app.entropy.token();
        let part = app.notifications.accept_part(&wanted, call.now, token).await?;
        count(&self.submission, part.created.len());
        let new = planned.iter().filter(|it| part.created.contains(&it.notification.id));
        let deliveries: Vec<Delivery> = new.flat_map(|it| it.deliveries.clone()).collect();
        app.announce(&deliveries, call).await;
        Ok(Answer::first(&receipt(&planned)))
    }

    fn planned(&self, id: NotificationId, user: &UserId, person: &Person) -> Planned {
        let Self { call, caller, submission, words, .. } = self;
        let notification = submission.notification(id, user, words.version(), caller, call.now);
        Planned::of(notification, submission, words, person, call.now)
    }
}

fn receipt(planned: &[Planned]) -> Receipt {
    let view = |it: &Planned| AcceptedOne {
        notification_id: it.notification.id.as_str().to_owned(),
        user_id: it.notification.user.as_str().to_owned(),
        status: standing(&it.deliveries),
    };
    Receipt(Taken(AcceptedView { notifications: planned.iter().map(view).collect() }))
}

fn count(submission: &Submission, accepted: usize) {
    let accepted = u32::try_from(accepted).unwrap_or(u32::MAX);
    measure("NotificationsAccepted", Unit::Count, accepted.into());
    let dimensions = vec![("Priority", submission.priority.name().to_owned())];
    measure_by("NotificationsAccepted", Unit::Count, accepted.into(), dimensions);
}
