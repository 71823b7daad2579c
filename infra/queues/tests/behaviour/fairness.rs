//! One tenant's backlog does not keep the others row.

use queues::{NewMessage, Queues};

use crate::rig::{Rig, bodies};

fn send(queues: &Queues, body: &str, group: Option<&str>) {
    let message = NewMessage { group: group.map(Into::into), ..NewMessage::text(body) };
    queues.send("q", &message).unwrap();
}

fn backlog() -> Rig {
    let rig = Rig::with_queue("q", &[("VisibilityTimeout", "60")]);
    (0..40).for_each(|_| send(&rig.queues, "noisy", Some("noisy")));
    rig
}

#[test]
fn messages_of_quiet_groups_and_of_none_overtake_a_noisy_group() {
    let rig = backlog();
    assert_eq!(rig.queues.receive("q", 20, None).unwrap().len(), 20);
    send(&rig.queues, "quiet", Some("quiet"));
    send(&rig.queues, "alone", None);
    let next = bodies(&rig.queues.receive("q", 4, None).unwrap());
    assert_eq!(next, ["quiet", "alone", "noisy", "noisy"]);
}

#[test]
fn without_messages_in_flight_the_order_is_that_of_arrival() {
    let rig = backlog();
    send(&rig.queues, "quiet", Some("quiet"));
    assert_eq!(bodies(&rig.queues.receive("q", 1, None).unwrap()), ["noisy"]);
}

#[test]
fn a_group_is_quiet_again_when_its_messages_are_done() {
    let rig = backlog();
    for message in rig.queues.receive("q", 20, None).unwrap() {
        rig.queues.delete("q", &message.receipt_handle).unwrap();
    }
    send(&rig.queues, "quiet", Some("quiet"));
    assert_eq!(bodies(&rig.queues.receive("q", 1, None).unwrap()), ["noisy"]);
}

#[test]
fn a_noisy_group_still_gets_everything_when_no_other_group_waits() {
    let rig = backlog();
    assert_eq!(rig.queues.receive("q", 30, None).unwrap().len(), 30);
    assert_eq!(rig.queues.receive("q", 30, None).unwrap().len(), 10);
}
