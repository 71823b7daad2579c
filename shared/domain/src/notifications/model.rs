//! Two nodes, one delivery and an opt-out, in every order that there is.
//!
//! Nodes read, claim, speak to the provider and write down what it said; each of these may come late, or
//! not at all. A claim is one transaction: the row is still what was read, and so are the preferences.
//! The search also finds what goes wrong if it is not, so that it is known to look.

use crate::Timestamp;
use crate::model_check::{self, visit_all};

use super::samples::{at, notification};
use super::{
    AttemptOutcome, CLAIM_SECONDS, CallbackKind, Class, Delivery, Endpoint, Event, Priority,
    ProviderName, Reason, SendOutcome, Status, Transition, transition,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Idle,
    Decided {
        version: u64,
        preferences: u8,
    },
    /// And whether an earlier attempt may have succeeded.
    Claimed {
        attempt: u32,
        doubt: bool,
    },
    Answered {
        attempt: u32,
        answer: Answer,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Answer {
    Yes,
    No,
    /// It was accepted, and the line was cut.
    Cut,
}

#[derive(Debug, Clone, Copy)]
enum Move {
    Read(usize),
    Claim(usize),
    Speak(usize, Answer),
    Write(usize),
    Crash(usize),
    Tick,
    Check,
    OptOut,
    Withdraw,
    Arrived,
    Bounced,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    delivery: Delivery,
    nodes: [Node; 2],
    preferences: u8,
    /// Hand-overs that the provider accepted, and messages that it was shown.
    accepted: u8,
    shown: u8,
    ticks: u8,
    crashes: u8,
}

/// What the store is checked to do; without, it is a mutation.
#[derive(Clone, Copy)]
struct Store {
    checks_version: bool,
    checks_preferences: bool,
}

const SOUND: Store = Store { checks_version: true, checks_preferences: true };
fn now(world: &World) -> Timestamp {
    at(i64::from(world.ticks) * CLAIM_SECONDS)
}

fn start(endpoint: Endpoint) -> World {
    World {
        delivery: Delivery::new(&notification(Priority::Normal), endpoint),
        nodes: [Node::Idle; 2],
        preferences: 0,
        accepted: 0,
        shown: 0,
        ticks: 0,
        crashes: 0,
    }
}

fn moves(_: &World) -> Vec<Move> {
    let answers = [Answer::Yes, Answer::No, Answer::Cut];
    let each = |node: usize| {
        let own = [Move::Read(node), Move::Claim(node), Move::Write(node), Move::Crash(node)];
        own.into_iter().chain(answers.map(|answer| Move::Speak(node, answer)))
    };
    let shared =
        [Move::Tick, Move::Check, Move::OptOut, Move::Withdraw, Move::Arrived, Move::Bounced];
    each(0).chain(each(1)).chain(shared).collect()
}

fn handed(attempt: u32, answer: Answer) -> Event {
    let reason = String::new();
    let outcome = match answer {
        Answer::Yes => SendOutcome::Accepted { reference: None },
        Answer::No => {
            SendOutcome::Refused { class: Class::Outage, retry_after_seconds: None, reason }
        }
        Answer::Cut => SendOutcome::Unknown { reason },
    };
    Event::Sent { attempt, outcome, jitter: 0 }
}

fn apply(world: &mut World, event: &Event) -> bool {
    match transition(&world.delivery, event, now(world)) {
        Transition::Changed(next) => {
            world.delivery = *next;
            true
        }
        Transition::Unchanged | Transition::Illegal(_) => false,
    }
}

fn after(store: Store, world: &World, step: Move) -> Result<Option<World>, &'static str> {
    let mut next = world.clone();
    let happened = match step {
        Move::Read(node) => {
            let due = next.delivery.status == Status::Pending && next.preferences == 0;
            let version = next.delivery.version;
            next.nodes[node] = Node::Decided { version, preferences: next.preferences };
            due && world.nodes[node] == Node::Idle && next.shown < 2
        }
        Move::Claim(node) => match world.nodes[node] {
            Node::Decided { version, preferences } => {
                claim(store, &mut next, node, version, preferences)?
            }
            Node::Idle | Node::Claimed { .. } | Node::Answered { .. } => false,
        },
        Move::Speak(node, answer) => match world.nodes[node] {
            Node::Claimed { attempt, doubt } => {
                end_attempt(&mut next, attempt, doubt, answer)?;
                next.nodes[node] = Node::Answered { attempt, answer };
                true
            }
            Node::Idle | Node::Decided { .. } | Node::Answered { .. } => false,
        },
        Move::Write(node) => match world.nodes[node] {
            Node::Answered { attempt, answer } => {
                apply(&mut next, &handed(attempt, answer));
                next.nodes[node] = Node::Idle;
                true
            }
            Node::Idle | Node::Decided { .. } | Node::Claimed { .. } => false,
        },
        Move::Crash(node) => {
            next.nodes[node] = Node::Idle;
            next.crashes += 1;
            world.crashes < 1 && world.nodes[node] != Node::Idle
        }
        Move::Tick => {
            next.ticks += 1;
            world.ticks < 2
        }
        Move::Check => apply(&mut next, &Event::ClaimChecked { jitter: 0 }),
        Move::OptOut => {
            next.preferences = 1;
            world.preferences == 0
        }
        Move::Withdraw => {
            world.preferences == 1
                && apply(&mut next, &Event::Withdrawn { reason: Reason::Cancelled })
        }
        Move::Arrived => world.accepted > 0 && called(&mut next, CallbackKind::Delivered),
        Move::Bounced => {
            world.accepted > 0 && called(&mut next, CallbackKind::Bounced { hard: true })
        }
    };
    Ok(happened.then_some(next))
}

fn called(next: &mut World, kind: CallbackKind) -> bool {
    let at = now(next);
    apply(next, &Event::CalledBack { kind, at })
}

fn claim(
    store: Store,
    next: &mut World,
    node: usize,
    version: u64,
    preferences: u8,
) -> Result<bool, &'static str> {
    let holds = (!store.checks_version || next.delivery.version == version)
        && (!store.checks_preferences || next.preferences == preferences);
    let attempt = next.delivery.attempt + 1;
    let provider = ProviderName::parse("ses").map_err(|_| "a name")?;
    let event =
        Event::Claimed { by: format!("node-{node}"), attempt, provider, rendering: None, to: None };
    // A store that checks no version overwrites the row as it is.
    let stale = Delivery { status: Status::Pending, ..next.delivery.clone() };
    let before = if store.checks_version { &next.delivery } else { &stale };
    next.nodes[node] = Node::Idle;
    if let Transition::Changed(claimed) = transition(before, &event, now(next))
        && holds
    {
        if next.preferences == 1 {
            return Err("claimed after an opt-out");
        }
        let doubt = next.delivery.uncertain > 0;
        next.delivery = *claimed;
        next.nodes[node] = Node::Claimed { attempt, doubt };
    }
    Ok(true)
}

fn end_attempt(
    next: &mut World,
    attempt: u32,
    doubt: bool,
    answer: Answer,
) -> Result<(), &'static str> {
    next.shown += 1;
    if answer == Answer::No {
        return Ok(());
    }
    // A node whose claim had expired sends late, after another node has claimed.
    let own = next.delivery.attempts.iter().find(|entry| entry.number == attempt);
    let late = own.is_some_and(|entry| entry.outcome != AttemptOutcome::Open);
    if next.accepted > 0 && !doubt && !late {
        return Err("outcome over twice, and nothing was uncertain");
    }
    next.accepted += 1;
    let twice = next.delivery.id.endpoint == Endpoint::Sms && next.accepted > 1;
    if twice { Err("two text messages") } else { Ok(()) }
}

#[test]
fn in_every_order_nothing_is_sent_twice_without_doubt_nor_after_an_opt_out() {
    for endpoint in [Endpoint::Email, Endpoint::Sms] {
        let outcome =
            visit_all(start(endpoint.clone()), moves, |world, step| after(SOUND, world, step));
        match outcome {
            model_check::Outcome::Sound { states } => {
                assert!(states > 1_000, "{endpoint:?}: {states}");
            }
            model_check::Outcome::Broken(what, steps) => panic!("{endpoint:?}: {what}: {steps:?}"),
        }
    }
}

#[test]
fn the_search_notices_a_store_that_checks_too_little() {
    for (store, expected) in [
        (Store { checks_preferences: false, ..SOUND }, "claimed after an opt-out"),
        (Store { checks_version: false, ..SOUND }, "outcome over twice, and nothing was uncertain"),
    ] {
        let outcome =
            visit_all(start(Endpoint::Sms), moves, |world, step| after(store, world, step));
        let model_check::Outcome::Broken(what, _) = outcome else { panic!("{outcome:?}") };
        assert_eq!(what, expected);
    }
}
