//! The function dies at each of its calls in turn: everything ends, and nothing arrives twice unseen.

use domain::notifications::Status;
use local::faults::Fault;

use super::World;

#[tokio::test(start_paused = true)]
async fn wherever_a_sender_dies_its_delivery_ends_and_what_is_doubled_is_known() {
    let mut struck = 0;
    for fault in [Fault::CrashBefore, Fault::CrashAfter, Fault::CommitThenTimeout] {
        for nth in 0..40 {
            let (world, ada) = World::with_ada().await;
            let ids = world.send(&world.draft(&ada), &["email", "sms"]).await;
            world.lab.cloud.faults.inject(nth, fault);
            world.lab.cloud.settle().await;
            let waiting = world.lab.cloud.faults.is_pending();
            world.lab.cloud.faults.stop();
            for _ in 0..8 {
                world.lab.advance_seconds(66);
                world.lab.sweep().await;
                world.lab.cloud.settle().await;
            }
            let arrivals = world.providers.deliveries();
            for id in &ids {
                let delivery = world.delivery(id).await;
                let arrived = arrivals.get(&id.key()).copied().unwrap_or(0);
                let context = format!("{fault:?} at call {nth}: {delivery:?}");
                assert!(delivery.status.is_final(), "{context}");
                assert!(arrived <= 1 + delivery.uncertain as usize, "{context}");
                if delivery.channel() == domain::notifications::Channel::Sms {
                    assert!(arrived <= 1, "{context}");
                }
                if delivery.status == Status::Delivered {
                    assert!(arrived >= 1, "{context}");
                }
            }
            if waiting {
                break;
            }
            struck += 1;
        }
    }
    assert!(struck > 30, "{struck}");
}
