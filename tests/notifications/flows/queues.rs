//! Nine queues: a message arrives at the one of its channel and priority, a malformed one at its dead
//! letters.

use domain::notifications::{Channel, Priority};

use super::{TRACE, World};

fn named(channel: Channel, priority: Priority, what: &str) -> String {
    let title = |name: &str| name[..1].to_uppercase() + &name[1..];
    format!("{}{}{what}", title(channel.name()), title(priority.name()))
}

#[tokio::test(start_paused = true)]
async fn more_than_ten_at_once_arrive_each_at_its_queue_in_their_persons_group() {
    let (world, ada) = World::with_ada().await;
    let mut deliveries = Vec::new();
    for priority in Priority::ALL {
        for _ in 0..4 {
            let mut draft = world.draft(&ada);
            draft.priority = priority;
            deliveries.extend(world.accept(&draft, &["email", "sms", "push-phone"]).await);
        }
    }
    world.topic().publish_due(&deliveries, TRACE).await.unwrap();
    for channel in Channel::ALL {
        for priority in Priority::ALL {
            let messages = world.dead_letters(&named(channel, priority, "Queue"));
            assert_eq!(messages.len(), 4, "{channel:?} {priority:?}");
            for message in messages {
                assert_eq!(message.attributes["MessageGroupId"], "ada");
                let trace = message.message_attributes["traceparent"].string_value.as_deref();
                assert_eq!(trace, Some(TRACE));
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_malformed_message_lies_with_the_dead_letters_of_its_queue() {
    let world = World::new();
    let queues = world.lab.cloud.services.queues().clone();
    for channel in Channel::ALL {
        for priority in Priority::ALL {
            let name = named(channel, priority, "Queue");
            let stack = &world.lab.cloud.stack;
            let queue = stack.queues.iter().find(|queue| queue.logical_id == name).unwrap();
            queues.send(&queue.name, &::queues::NewMessage::text("not json")).unwrap();
            world.lab.cloud.settle().await;
            let dead_letters = world.dead_letters(&named(channel, priority, "DeadLetters"));
            assert_eq!(dead_letters.len(), 1, "{name}");
            assert!(dead_letters[0].message_attributes.contains_key("reason"), "{name}");
        }
    }
}
