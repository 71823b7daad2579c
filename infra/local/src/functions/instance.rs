//! One instance of a function: invocations, with the work after their answers, and its shutdown.

use std::sync::Arc;
use std::time::Duration;

use boundary::{Function, Invocation};
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot, watch};

use super::{InvocationResult, Pool};
use crate::faults::CRASH;

/// One warm instance: event JSON in, answer JSON out, and work after the answer.
pub(super) type Instance = Arc<dyn Function>;

/// How long an instance may take to shut down.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(500);

/// Runs invocations on instances of one pool.
#[derive(Clone)]
pub(super) struct Invoker {
    pub(super) pool: Arc<Pool>,
    pub(super) busy: watch::Sender<usize>,
}

/// Sends the caller the first result: the instance's own, or that it crashed or timed out.
#[derive(Clone)]
struct ResultSender(Arc<Mutex<Option<oneshot::Sender<InvocationResult>>>>);

impl ResultSender {
    fn send(&self, outcome: InvocationResult) {
        let sender = self.0.lock().take();
        if let Some(sender) = sender {
            // The caller may have given up.
            let _ = sender.send(outcome);
        }
    }
}

/// Counts an instance that works after its answer, for as long as it does.
struct BusyGuard(watch::Sender<usize>);

impl BusyGuard {
    fn new(busy: &watch::Sender<usize>) -> Self {
        busy.send_modify(|count| *count += 1);
        Self(busy.clone())
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Invoker {
    /// Runs one invocation on a task of its own: a panic, a crash or a time-out ends it alone. The
    /// answer is returned as soon as it is there; the task goes on with the work after it.
    pub(super) async fn run(
        self,
        instance: Instance,
        event: Vec<u8>,
        invocation: Invocation,
    ) -> InvocationResult {
        let (sender, receiver) = oneshot::channel();
        let caller = ResultSender(Arc::new(Mutex::new(Some(sender))));
        tokio::spawn(self.supervise(instance, event, invocation, caller));
        receiver.await.unwrap_or_else(|_| Err("the invocation sent no result".to_owned()))
    }

    async fn supervise(
        self,
        instance: Instance,
        event: Vec<u8>,
        invocation: Invocation,
        caller: ResultSender,
    ) {
        let crash = Arc::new(Notify::new());
        let timeout = self.pool.timeout;
        let work = self.invoke(instance, event, invocation, caller.clone());
        let mut task = tokio::spawn(CRASH.scope(Arc::clone(&crash), work));
        let ended = tokio::select! {
            ended = &mut task => ended.map_err(|error| format!("the function panicked: {error}")),
            () = crash.notified() => Err("the function died".to_owned()),
            () = tokio::time::sleep(timeout) => {
                Err(format!("Task timed out after {} seconds", timeout.as_secs()))
            }
        };
        if let Err(error) = ended {
            task.abort();
            caller.send(Err(error));
        }
    }

    async fn invoke(
        self,
        instance: Instance,
        event: Vec<u8>,
        invocation: Invocation,
        caller: ResultSender,
    ) {
        let outcome = instance.invoke(&event, invocation).await;
        let mut after = instance.after_response();
        // Work that is ready at once is over before the caller can send another request, which then
        // finds this instance idle.
        if futures::poll!(after.as_mut()).is_ready() {
            drop(after);
            self.pool.put_back(instance);
            caller.send(outcome);
            return;
        }
        let busy = BusyGuard::new(&self.busy);
        caller.send(outcome);
        after.await;
        self.pool.put_back(instance);
        drop(busy);
    }
}

/// Shuts an instance down: until it is done, crashes or times out.
pub(super) async fn shut_down(instance: Instance) {
    let crash = Arc::new(Notify::new());
    let work = async move { instance.shutdown().await };
    let mut task = tokio::spawn(CRASH.scope(Arc::clone(&crash), work));
    tokio::select! {
        _ = &mut task => {}
        () = crash.notified() => task.abort(),
        () = tokio::time::sleep(SHUTDOWN_GRACE) => task.abort(),
    }
}
