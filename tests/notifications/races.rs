//! Many who send, opt out, cancel and deliver at once.

mod templates;

use futures::future::join_all;
use futures::join;
use http::Method;
use local::faults::Faults;
use local::pump::EventSourceMapping;
use queues::NewMessage;
use serde_json::{Value, json};
use tests::scripted_providers::{ScriptedOutcome, ScriptedProviders};
use tests::{Lab, Response, Setup, root_key};

const ALL: &str = "/api/v1/notifications";

/// Interleavings that each race of two is run with.
const SEEDS: u64 = 40;

/// A cloud in which nothing goes wrong, but in an order that the seed decides.
fn shuffled(seed: u64) -> (Lab, ScriptedProviders) {
    let providers = ScriptedProviders::new();
    let faults = Faults::seeded(seed, 0);
    let setup = Setup { seed, faults, providers: Some(providers.clone()), ..Setup::default() };
    (Lab::with(setup), providers)
}

async fn put(lab: &Lab, path: &str, body: &Value) -> Response {
    lab.call(Method::PUT, path).by(&root_key()).json(body).send().await
}

async fn reachable(lab: &Lab, user: &str) {
    let contacts = json!({ "email": format!("{user}@example.org") });
    assert_eq!(put(lab, &format!("/api/v1/users/{user}/contacts"), &contacts).await.status, 200);
}

fn contents() -> Value {
    let email = json!({ "subject": "Hello", "text": "Your order is on its way." });
    json!({ "userId": "ada", "category": "orders", "content": { "email": email } })
}

/// Accepts a mail for `ada`; its id.
async fn accepted(lab: &Lab) -> String {
    reachable(lab, "ada").await;
    let made = lab.post(ALL, &contents()).await.assert_status(202);
    lab.cloud.functions.quiesce().await;
    made.body["notifications"][0]["notificationId"].as_str().unwrap().to_owned()
}

fn mails(lab: &Lab) -> &EventSourceMapping {
    let stack = &lab.cloud.stack;
    let queue = stack.queues.iter().find(|queue| queue.logical_id == "EmailNormalQueue").unwrap();
    let mut mappings = lab.cloud.pump.mappings().iter();
    mappings.find(|mapping| mapping.queue == queue.name).unwrap()
}

/// Lets others go ahead, by a few steps more with each seed.
async fn late(seed: u64) {
    for _ in 0..seed * 4 {
        tokio::task::yield_now().await;
    }
}

/// How the only delivery of a notification stands.
async fn delivery(lab: &Lab, id: &str) -> Value {
    lab.get(&format!("{ALL}/{id}")).await.body["deliveries"][0].clone()
}

/// The places of the claim and of a change of preferences among the writes that were made.
fn places(lab: &Lab) -> (Option<usize>, Option<usize>) {
    const CHECK: &str = "\"ConditionCheck\":";
    const HISTORY: &str = "\"history\"";
    let writes = lab.cloud.faults.recorded();
    let place = |what: &str, other: &str| {
        writes.iter().position(|call| {
            let body = String::from_utf8_lossy(&call.body);
            call.done && body.contains(what) && !body.contains(other)
        })
    };
    (place(CHECK, HISTORY), place(HISTORY, CHECK))
}

#[tokio::test(start_paused = true)]
async fn of_a_hundred_with_one_key_one_is_accepted_and_all_get_its_answer_in_the_end() {
    for people in [vec!["ada"], vec!["ada", "bob", "cyd"]] {
        let (lab, providers) = shuffled(1);
        for user in &people {
            reachable(&lab, user).await;
        }
        let mut body = contents();
        body["userId"] = Value::Null;
        body["userIds"] = json!(people);
        body["idempotencyKey"] = json!("order-7");
        let answers = join_all((0..100).map(|_| lab.post(ALL, &body))).await;
        let told = answers.iter().find(|answer| answer.status == 202).unwrap();
        let mut waited = 0;
        for answer in &answers {
            if answer.status == 202 {
                assert_eq!(answer.body, told.body);
                continue;
            }
            assert_eq!((answer.status.as_u16(), answer.text("type")), (409, "/docs#in-progress"));
            waited = waited.max(answer.header("retry-after").parse::<i64>().unwrap());
            assert!(waited >= 1);
        }
        assert_eq!(waited > 0, people.len() > 1, "one person's is one write");
        lab.advance_seconds(waited);
        for answer in join_all((0..100).map(|_| lab.post(ALL, &body))).await {
            assert_eq!((answer.status.as_u16(), &answer.body), (202, &told.body));
        }
        let mut other = body.clone();
        other["category"] = json!("news");
        let refused = lab.post(ALL, &other).await;
        let reason = (refused.status.as_u16(), refused.text("type"));
        assert_eq!(reason, (422, "/docs#idempotency-key-reused"));
        lab.cloud.settle().await;
        let arrivals = providers.deliveries();
        assert_eq!(arrivals.len(), people.len());
        assert!(arrivals.values().all(|times| *times == 1), "{arrivals:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn two_bodies_with_one_key_at_once_are_never_both_accepted() {
    for seed in 0..SEEDS {
        let (lab, _) = shuffled(seed);
        reachable(&lab, "ada").await;
        let mut one = contents();
        one["idempotencyKey"] = json!("k");
        let mut other = one.clone();
        other["priority"] = json!("low");
        let (first, second) = join!(lab.post(ALL, &one), lab.post(ALL, &other));
        let mut statuses = [first.status.as_u16(), second.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [202, 422], "seed {seed}: {} {}", first.body, second.body);
    }
}

#[tokio::test(start_paused = true)]
async fn of_an_opt_out_and_a_claim_one_is_first_and_nothing_is_claimed_after_the_opt_out() {
    let (mut sent, mut stopped) = (0, 0);
    for seed in 0..SEEDS {
        let (lab, providers) = shuffled(seed);
        let id = accepted(&lab).await;
        // A refusal would be followed by another attempt.
        providers
            .script_always("mail", ScriptedOutcome::refuse(domain::notifications::Class::Outage));
        lab.cloud.faults.record(|call| call.operation == "TransactWriteItems");
        let off = json!({ "channels": { "email": false } });
        let wanted = async {
            late(seed).await;
            put(&lab, "/api/v1/users/ada/preferences", &off).await
        };
        let (answer, _) = join!(wanted, lab.cloud.pump.poll(mails(&lab)));
        assert_eq!(answer.status, 200, "seed {seed}: {}", answer.body);
        let (claimed, opted_out) = places(&lab);
        let before = providers.sends().len();
        assert_eq!(before == 1, claimed.is_some(), "seed {seed}");
        assert!(claimed.is_none() || claimed < opted_out, "seed {seed}");
        lab.run_until_idle().await;
        assert_eq!(providers.sends().len(), before, "seed {seed}");
        let found = delivery(&lab, &id).await;
        let ended = ["cancelled", "suppressed"].map(|status| found["status"] == status);
        assert!(ended.contains(&true), "seed {seed}: {found}");
        assert_eq!(found["why"]["rule"], "opted-out", "seed {seed}: {found}");
        if before == 1 { sent += 1 } else { stopped += 1 }
    }
    assert!(sent > 0 && stopped > 0, "{sent} {stopped}");
}

#[tokio::test(start_paused = true)]
async fn of_a_cancellation_and_a_claim_one_is_first_and_the_person_gets_it_or_not() {
    let (mut sent, mut stopped) = (0, 0);
    for seed in 0..SEEDS {
        let (lab, providers) = shuffled(seed);
        let id = accepted(&lab).await;
        let path = format!("{ALL}/{id}");
        let gone = async {
            late(seed).await;
            lab.call(Method::DELETE, &path).by(&root_key()).send().await
        };
        let (answer, _) = join!(gone, lab.cloud.pump.poll(mails(&lab)));
        assert_eq!(answer.status, 200, "seed {seed}: {}", answer.body);
        lab.run_until_idle().await;
        let found = delivery(&lab, &id).await;
        match providers.sends().len() {
            0 => {
                assert_eq!(found["status"], "cancelled", "seed {seed}: {found}");
                stopped += 1;
            }
            1 => {
                assert_eq!(found["status"], "delivered", "seed {seed}: {found}");
                assert_ne!(
                    answer.text("status"),
                    "cancelled",
                    "seed {seed}: it is not answered so"
                );
                sent += 1;
            }
            more => panic!("seed {seed}: {more}"),
        }
    }
    assert!(sent > 0 && stopped > 0, "{sent} {stopped}");
}

#[tokio::test(start_paused = true)]
async fn of_many_who_deliver_the_same_at_once_one_does() {
    for seed in 0..SEEDS {
        let (lab, providers) = shuffled(seed);
        let id = accepted(&lab).await;
        let queues = lab.cloud.services.queues();
        let message = queues.receive(&mails(&lab).queue, 1, Some(0)).unwrap().remove(0);
        let copy = NewMessage {
            attributes: message.message_attributes.clone(),
            group: message.attributes.get("MessageGroupId").cloned(),
            ..NewMessage::text(message.body)
        };
        for _ in 0..19 {
            queues.send(&mails(&lab).queue, &copy).unwrap();
        }
        let (one, other) =
            join!(lab.cloud.pump.poll(mails(&lab)), lab.cloud.pump.poll(mails(&lab)));
        assert_eq!((one.received, other.received), (10, 10), "seed {seed}");
        lab.run_until_idle().await;
        assert_eq!(providers.sends().len(), 1, "seed {seed}");
        let found = delivery(&lab, &id).await;
        let attempts = found["attempts"].as_array().unwrap().len();
        assert_eq!((&found["status"], attempts), (&json!("delivered"), 1), "seed {seed}");
    }
}
