//! Drives the feed under faults: runs queues and schedules, repeats calls, and reads rows.

use std::cell::Cell;

use domain::Timestamp;
use domain::accounts::UserId;
use domain::feed::FeedMessage;
use feed::store::FeedStore;
use http::Method;
use local::faults::Faults;
use serde_json::Value;
use tests::{Lab, Response, Result};

use super::PEOPLE;
use super::interleavings::Span;

/// Time passes so often at most before everything has to be done.
const ROUNDS: usize = 24;

/// The delivery polls so often while there are no messages.
const IDLE_POLLS: usize = 120;

/// Looks at a lab without disturbing it.
pub(in crate::feed) struct Harness {
    pub(in crate::feed) lab: Lab,
    /// Meets no faults, so that looking changes nothing.
    pub(in crate::feed) store: FeedStore,
    keys: Vec<String>,
    ticks: Cell<u64>,
}

/// A call that has a definite answer.
pub(in crate::feed) struct Answered {
    pub(in crate::feed) answer: Response,
    /// All of it, tries without an answer included.
    pub(super) span: Span,
    /// The try that was answered.
    pub(super) last: Span,
}

impl Answered {
    pub(super) fn status(&self) -> u16 {
        self.answer.status.as_u16()
    }

    /// Whether an earlier try may have done something whose response was lost.
    pub(super) fn was_repeated(&self) -> bool {
        self.span.from != self.last.from
    }
}

impl Harness {
    pub(in crate::feed) async fn over(lab: Lab) -> Self {
        let mut keys = Vec::new();
        for name in PEOPLE {
            keys.push(lab.user(name, &["member"]).await);
        }
        let aws = lab.aws_under(&Faults::none());
        let store = FeedStore::new(aws.dynamodb(), lab.table("FeedTable"));
        Self { lab, store, keys, ticks: Cell::new(0) }
    }

    /// The next moment: everything that is begun or ended has one of its own.
    pub(super) fn tick(&self) -> u64 {
        self.ticks.set(self.ticks.get() + 1);
        self.ticks.get()
    }

    pub(super) fn now(&self) -> Timestamp {
        self.lab.now()
    }

    pub(in crate::feed) async fn call(
        &self,
        who: &str,
        (method, path): (Method, &str),
        body: &Value,
        once: Option<&str>,
    ) -> Response {
        let index = PEOPLE.iter().position(|name| *name == who).unwrap();
        let mut call = self.lab.call(method, path).by(&self.keys[index]);
        if !body.is_null() {
            call = call.json(body);
        }
        if let Some(once) = once {
            call = call.header("idempotency-key", once);
        }
        call.send().await
    }

    /// The same, repeated until it has a definite answer.
    pub(in crate::feed) async fn persist(
        &self,
        who: &str,
        (method, path): (Method, &str),
        body: &Value,
        once: Option<&str>,
    ) -> Result<Answered> {
        let began = self.tick();
        for attempt in 0..40 {
            if attempt == 20 {
                // Enough went wrong; from here on only a bug can keep the answer away.
                self.lab.cloud.faults.stop();
            }
            let from = self.tick();
            let from = if attempt == 0 { began } else { from };
            let answer = self.call(who, (method.clone(), path), body, once).await;
            if answer.is_definite() {
                let to = self.tick();
                let (span, last) = (Span { from: began, to }, Span { from, to });
                return Ok(Answered { answer, span, last });
            }
            self.pause().await;
        }
        Err(format!("{method} {path} by {who} never got a definite answer"))
    }

    pub(super) async fn pause(&self) {
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        self.lab.cloud.services.queues().clock_moved();
    }

    pub(in crate::feed) async fn settle(&self) {
        self.lab.cloud.settle().await;
    }

    /// Messages arrive while others are at work, who may send more.
    pub(super) async fn deliver(&self) {
        let name = self.lab.queue("FanOutQueue");
        let mappings = self.lab.cloud.pump.mappings().iter();
        let ours: Vec<_> = mappings.filter(|mapping| mapping.queue == name).collect();
        let mut idle = 0;
        while idle < IDLE_POLLS {
            for mapping in &ours {
                let received = self.lab.cloud.pump.poll(mapping).await.received;
                idle = if received == 0 { idle + 1 } else { 0 };
            }
            tokio::task::yield_now().await;
        }
    }

    /// Every message that is on its way is lost.
    pub(in crate::feed) fn lose_messages(&self) {
        let name = self.lab.queue("FanOutQueue");
        self.lab.cloud.services.queues().purge(&name).unwrap();
    }

    /// Says something to the queue, as a function would.
    fn say(&self, message: &FeedMessage) {
        let name = self.lab.queue("FanOutQueue");
        let body = serde_json::to_string(message).unwrap();
        let new = queues::NewMessage {
            group: Some(message.group_id()),
            ..queues::NewMessage::text(body)
        };
        self.lab.cloud.services.queues().send(&name, &new).unwrap();
    }

    /// What begins work that is not done.
    pub(in crate::feed) async fn unfinished(&self) -> Vec<FeedMessage> {
        let mut all = Vec::new();
        for list in 0..FeedStore::WORK_LISTS {
            let (found, next) = self.store.pending_work(list, None, 1_000).await.unwrap();
            assert_eq!(next, None);
            all.extend(found.into_iter().map(|work| work.message));
        }
        all
    }

    async fn is_anything_dirty(&self) -> bool {
        for list in 0..FeedStore::COUNT_LISTS {
            if !self.store.pending_aggregations(list, None, 1).await.unwrap().0.is_empty() {
                return true;
            }
        }
        false
    }

    fn is_anything_on_its_way(&self) -> bool {
        let queues = self.lab.cloud.services.queues();
        let depth = queues.depth(&self.lab.queue("FanOutQueue")).unwrap();
        depth.visible + depth.in_flight + depth.delayed > 0
    }

    /// Time passes until nothing is on its way and no work is left. An unfollow is sent once, and
    /// counted by the next who comes by if that is lost: they do now.
    pub(in crate::feed) async fn rest(&self) -> Result {
        for name in PEOPLE {
            let (author, follower) = (person(name), person("unknown"));
            self.say(&FeedMessage::Unfollowed { v: 1, follower, author });
        }
        for round in 0..ROUNDS {
            self.lab.advance_seconds(if round < 6 { 66 } else { 400 });
            self.lab.run_schedule("SweepFeed").await;
            self.settle().await;
            let dirty = self.is_anything_dirty().await;
            if !dirty && !self.is_anything_on_its_way() && self.unfinished().await.is_empty() {
                return Ok(());
            }
        }
        let (work, dirty) = (self.unfinished().await, self.is_anything_dirty().await);
        Err(format!("work is never done: {work:?}, not added up: {dirty}"))
    }
}

pub(in crate::feed) fn person(name: &str) -> UserId {
    UserId::outside(name)
}
