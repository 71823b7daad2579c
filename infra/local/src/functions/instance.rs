//! One instance of a function: an invocation from its event to its last word, and its end.

use std::sync::Arc;
use std::time::Duration;

use boundary::{Function, Invocation};
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot, watch};

use super::{Outcome, Slot};
use crate::faults::DEATH;

/// One warm instance: event JSON in, answer JSON out, and what it does when nobody waits.
pub(super) type Instance = Arc<dyn Function>;

/// What an instance is given to end.
const GRACE: Duration = Duration::from_millis(500);

/// Where an instance belongs while it is at work.
#[derive(Clone)]
pub(super) struct Life {
    pub(super) slot: Arc<Slot>,
    pub(super) busy: watch::Sender<usize>,
}

/// Who is told the outcome: whoever comes first tells it.
#[derive(Clone)]
struct Caller(Arc<Mutex<Option<oneshot::Sender<Outcome>>>>);

impl Caller {
    fn tell(&self, outcome: Outcome) {
        let sender = self.0.lock().take();
        if let Some(sender) = sender {
            // A caller who left does not want to know.
            let _ = sender.send(outcome);
        }
    }
}

/// Counts an instance that works after its answer, for as long as it does.
struct Busy(watch::Sender<usize>);

impl Busy {
    fn new(busy: &watch::Sender<usize>) -> Self {
        busy.send_modify(|count| *count += 1);
        Self(busy.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Life {
    /// Runs one invocation on a task of its own: a panic, a death or a time-out ends it alone. The
    /// answer comes when it is there; the task goes on with what follows.
    pub(super) async fn run(
        self,
        instance: Instance,
        event: Vec<u8>,
        invocation: Invocation,
    ) -> Outcome {
        let (sender, receiver) = oneshot::channel();
        let caller = Caller(Arc::new(Mutex::new(Some(sender))));
        tokio::spawn(self.watch(instance, event, invocation, caller));
        receiver.await.unwrap_or_else(|_| Err("the function's end was not noticed".to_owned()))
    }

    async fn watch(
        self,
        instance: Instance,
        event: Vec<u8>,
        invocation: Invocation,
        caller: Caller,
    ) {
        let death = Arc::new(Notify::new());
        let timeout = self.slot.timeout;
        let work = self.live(instance, event, invocation, caller.clone());
        let mut task = tokio::spawn(DEATH.scope(Arc::clone(&death), work));
        let ended = tokio::select! {
            ended = &mut task => ended.map_err(|error| format!("the function panicked: {error}")),
            () = death.notified() => Err("the function died".to_owned()),
            () = tokio::time::sleep(timeout) => {
                Err(format!("Task timed out after {} seconds", timeout.as_secs()))
            }
        };
        if let Err(error) = ended {
            task.abort();
            caller.tell(Err(error));
        }
    }

    async fn live(
        self,
        instance: Instance,
        event: Vec<u8>,
        invocation: Invocation,
        caller: Caller,
    ) {
        let outcome = instance.invoke(&event, invocation).await;
        let mut after = instance.after_response();
        // What takes no time is over before the caller can come again, so that the next request
        // meets this instance.
        if futures::poll!(after.as_mut()).is_ready() {
            drop(after);
            self.slot.put_back(instance);
            caller.tell(outcome);
            return;
        }
        let busy = Busy::new(&self.busy);
        caller.tell(outcome);
        after.await;
        self.slot.put_back(instance);
        drop(busy);
    }
}

/// Tells an instance that it ends, and lets it go: done, dead, or out of time.
pub(super) async fn end(instance: Instance) {
    let death = Arc::new(Notify::new());
    let work = async move { instance.shutdown().await };
    let mut task = tokio::spawn(DEATH.scope(Arc::clone(&death), work));
    tokio::select! {
        _ = &mut task => {}
        () = death.notified() => task.abort(),
        () = tokio::time::sleep(GRACE) => task.abort(),
    }
}
