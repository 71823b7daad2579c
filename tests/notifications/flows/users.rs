//! What a person wants is looked at right before anything goes out, and again by the claim.

use domain::notifications::{
    Channel, Day, DoNotDisturb, OptOut, Priority, Reason, Status, TimeOfDay, UserLimit,
};

use super::{TRACE, World};

#[tokio::test(start_paused = true)]
async fn nothing_follows_an_opt_out_however_urgent_it_is() {
    let (world, ada) = World::with_ada().await;
    let mut draft = world.draft(&ada);
    draft.priority = Priority::Critical;
    let id = world.send(&draft, &["email"]).await.remove(0);
    world
        .change_preferences(&ada, |it| it.switch_off(&OptOut::Channel { channel: Channel::Email }))
        .await;
    world.lab.settle_doubled().await;
    assert!(world.providers.sends().is_empty());
    let delivery = world.delivery(&id).await;
    let switch = OptOut::Channel { channel: Channel::Email };
    assert_eq!(delivery.status, Status::Suppressed);
    assert_eq!(delivery.reason, Some(Reason::OptedOut { switch }));
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_taken_back_when_its_person_wants_less() {
    let (world, ada) = World::with_ada().await;
    let mut draft = world.draft(&ada);
    draft.send_at = Some(world.now() + std::time::Duration::from_hours(2));
    let ids = world.send(&draft, &["email", "sms"]).await;
    world.lab.settle_doubled().await;
    world
        .change_preferences(&ada, |it| it.switch_off(&OptOut::Channel { channel: Channel::Sms }))
        .await;
    world.topic().publish_preferences_narrowed(&ada, TRACE).await.unwrap();
    world.lab.settle_doubled().await;
    assert_eq!(world.status(&ids[0]).await, Status::Pending);
    let delivery = world.delivery(&ids[1]).await;
    assert_eq!(delivery.status, Status::Cancelled);
    assert!(matches!(delivery.reason, Some(Reason::OptedOut { .. })));
}

#[tokio::test(start_paused = true)]
async fn the_quiet_are_left_alone_until_their_window_ends_but_for_what_is_critical() {
    let (world, ada) = World::with_ada().await;
    // Tests begin at noon, UTC.
    let quiet = DoNotDisturb {
        start: TimeOfDay::at(11 * 60).unwrap(),
        end: TimeOfDay::at(13 * 60).unwrap(),
        days: Day::ALL.to_vec(),
    };
    world.change_preferences(&ada, |it| it.do_not_disturb = Some(quiet)).await;
    let id = world.send_one(&ada, "email").await;
    let mut urgent = world.draft(&ada);
    urgent.priority = Priority::Critical;
    let urgent = world.send(&urgent, &["email"]).await.remove(0);
    world.lab.settle_doubled().await;
    assert_eq!(world.status(&urgent).await, Status::Delivered);
    assert_eq!(world.delivery(&id).await.reason, Some(Reason::DoNotDisturb));
    for _ in 0..62 {
        world.lab.advance_seconds(60);
        world.lab.sweep().await;
        world.lab.settle_doubled().await;
    }
    assert_eq!(world.status(&id).await, Status::Delivered);
    let at = world.providers.sends()[1].at;
    let late = at.as_second() - 1_772_366_400 - 3_600;
    assert!((0..=75).contains(&late), "{late} s after the window");
}

#[tokio::test(start_paused = true)]
async fn beyond_a_days_text_messages_the_next_waits_and_is_not_lost() {
    let (world, ada) = World::with_ada().await;
    let mut ids = Vec::new();
    for _ in 0..12 {
        ids.push(world.send_one(&ada, "sms").await);
    }
    let mut urgent = world.draft(&ada);
    urgent.priority = Priority::Critical;
    ids.push(world.send(&urgent, &["sms"]).await.remove(0));
    world.lab.settle_doubled().await;
    assert_eq!(world.providers.sends().len(), 11, "ten, and the critical one");
    let mut waiting = 0;
    for id in &ids {
        let delivery = world.delivery(id).await;
        if delivery.status == Status::Pending {
            waiting += 1;
            assert_eq!(delivery.reason, Some(Reason::Limited { limit: UserLimit::Daily }));
            assert_eq!(delivery.attempt, 0);
        }
    }
    assert_eq!(waiting, 2);
    world.lab.advance_seconds(86_000);
    for _ in 0..20 {
        world.lab.advance_seconds(66);
        world.lab.sweep().await;
        world.lab.settle_doubled().await;
    }
    assert_eq!(world.providers.sends().len(), 13);
}

#[tokio::test(start_paused = true)]
async fn fifty_an_hour_are_the_limit() {
    let (world, ada) = World::with_ada().await;
    let mut ids = Vec::new();
    for _ in 0..52 {
        ids.push(world.send_one(&ada, "push-phone").await);
    }
    world.lab.settle_doubled().await;
    assert_eq!(world.providers.sends().len(), 50);
    for id in &ids {
        let delivery = world.delivery(id).await;
        if delivery.status == Status::Pending {
            assert_eq!(delivery.reason, Some(Reason::Limited { limit: UserLimit::Hourly }));
        }
    }
}
