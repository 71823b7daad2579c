//! What has to be true in the end, after any fault.

use std::collections::BTreeSet;

use domain::notifications::{
    AttemptOutcome, Channel, DeadLetter, DeadLetterFilter, Delivery, Status,
};

use super::Scene;

impl Scene {
    /// Lets everything end, and compares how with what has to be true of it.
    pub(super) async fn check(&self, context: &str) -> Vec<Delivery> {
        self.rest().await;
        let deliveries = self.deliveries().await;
        let arrivals = self.providers.deliveries();
        for delivery in &deliveries {
            let arrived = arrivals.get(&delivery.id.key()).copied().unwrap_or(0);
            check_delivery(
                delivery,
                arrived,
                &format!("{context}: {delivery:?}, {arrived} arrived"),
            );
        }
        let count = |status| deliveries.iter().filter(|it| it.status == status).count();
        let ended = [
            Status::Delivered,
            Status::Failed,
            Status::Unknown,
            Status::Suppressed,
            Status::Cancelled,
        ];
        assert_eq!(ended.map(count).iter().sum::<usize>(), deliveries.len(), "{context}");
        let failed: Vec<&Delivery> =
            deliveries.iter().filter(|it| it.status == Status::Failed).collect();
        self.check_dead_letters(&failed, context).await;
        deliveries
    }

    /// What failed is listed, and what a provider refused has raised the alarm.
    async fn check_dead_letters(&self, failed: &[&Delivery], context: &str) {
        let listed = self.store.dead_letters(&DeadLetterFilter::default(), 50, None).await.unwrap();
        let listed: BTreeSet<String> = listed.items.iter().map(|it| it.id.key()).collect();
        let wanted: BTreeSet<String> = failed.iter().map(|it| it.id.key()).collect();
        assert_eq!(listed, wanted, "{context}");
        for delivery in failed.iter().filter(|it| it.bounced_at.is_none()) {
            let name = match delivery.channel() {
                Channel::Email => "EmailNormalDeadLetters",
                Channel::Sms => "SmsNormalDeadLetters",
                Channel::Push => "PushNormalDeadLetters",
            };
            let queues = self.lab.cloud.services.queues();
            let dead_letters = queues.receive(&self.lab.queue(name), 100, Some(0)).unwrap();
            let dead_letter = |body: &str| serde_json::from_str::<DeadLetter>(body).unwrap().id;
            assert!(
                dead_letters.iter().any(|it| dead_letter(&it.body) == delivery.id),
                "{context}: {name}"
            );
        }
    }
}

/// What has to be true of each delivery that has ended.
fn check_delivery(delivery: &Delivery, arrived: usize, context: &str) {
    let doubtful = |outcome| matches!(outcome, AttemptOutcome::Lost | AttemptOutcome::Unknown);
    let doubts = delivery.attempts.iter().filter(|attempt| doubtful(attempt.outcome)).count();
    assert!(arrived <= 1 + doubts, "{context}");
    assert!(delivery.uncertain as usize <= doubts, "{context}");
    assert!(arrived <= 1 || delivery.channel() != Channel::Sms, "{context}");
    let fits = match delivery.status {
        Status::Pending | Status::Sending => false,
        Status::Delivered => arrived >= 1,
        Status::Suppressed | Status::Cancelled => arrived == 0,
        Status::Failed => arrived == 0 || delivery.bounced_at.is_some(),
        Status::Unknown => delivery.uncertain > 0,
    };
    assert!(fits, "{context}");
}
