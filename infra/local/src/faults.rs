//! What a seeded test lets go wrong, and where: at the SDK's connector and at the queue pump.
//!
//! A plan is a stream of random numbers from one seed. Every call to a service and every delivery
//! draws from it, in the order in which a single-threaded test runs them, so the same seed meets
//! the same faults. Injected faults are counted by kind.

mod answers;
mod record;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use aws_smithy_runtime_api::client::result::ConnectorError;
use bytes::Bytes;
use domain::SplitMix64;
use http::{Request, Response};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::services::Service;
use answers::{BROKEN, THROTTLED, conflict, refusal};
use record::Record;

pub use record::{CallFilter, Recorded};

/// What can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The service refuses at the moment; nothing is written.
    Throttle,
    /// The service answers 500; nothing is written.
    ServerError,
    /// The line is cut before the request arrives.
    CutBefore,
    /// The request is carried out, and its answer lost.
    CommitThenTimeout,
    /// A transaction meets another one.
    TransactionConflict,
    /// An eventually consistent read shows an earlier state.
    StaleRead,
    /// The function dies before the call.
    CrashBefore,
    /// The function dies after the call was carried out.
    CrashAfter,
    /// A message arrives twice.
    DoubledMessage,
    /// A batch arrives in another order.
    ReorderedBatch,
    /// A message arrives late.
    DelayedMessage,
    /// A handled message is not acknowledged.
    LostAcknowledgement,
}

/// A request to a service.
#[derive(Debug)]
pub struct Call {
    pub service: Service,
    pub operation: String,
    pub body: Bytes,
}

/// What goes wrong in one test.
pub struct Faults {
    plan: Mutex<Plan>,
    counts: Mutex<BTreeMap<Fault, u64>>,
    seen: Mutex<HashMap<Bytes, Response<Bytes>>>,
    mutation: Option<Mutation>,
    silent: Mutex<Option<CallFilter>>,
    slow: Mutex<Option<CallFilter>>,
    record: Record,
}

/// So often others get a turn before a call that is slow.
const SLOW_TURNS: u64 = 250;

/// Changes a request on its way to a service: what a function would send if it had a bug. It gets
/// the operation's name and its JSON; what it returns is sent instead.
pub type Mutation = fn(&str, &mut serde_json::Value);

enum Plan {
    Never,
    /// Nothing goes wrong until the plan within is taken up again.
    Paused(Box<Plan>),
    Seeded {
        dice: SplitMix64,
        per_mille: u64,
    },
    /// The call of this number meets this fault, and no other does.
    At {
        countdown: u64,
        fault: Fault,
    },
}

impl std::fmt::Debug for Faults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Faults({:?})", self.counts())
    }
}

tokio::task_local! {
    /// Rings when the invocation that runs in this task is to die.
    pub static DEATH: Arc<Notify>;
}

impl Faults {
    /// Nothing goes wrong.
    pub fn none() -> Arc<Self> {
        Self::with(Plan::Never)
    }

    /// Each call and delivery meets a fault with a probability of `per_mille`.
    pub fn seeded(seed: u64, per_mille: u64) -> Arc<Self> {
        Self::with(Plan::Seeded { dice: SplitMix64::new(seed), per_mille })
    }

    /// The same, in a product with a planted bug.
    pub fn mutated(seed: u64, per_mille: u64, mutation: Mutation) -> Arc<Self> {
        let plan = Plan::Seeded { dice: SplitMix64::new(seed), per_mille };
        Arc::new(Self { mutation: Some(mutation), ..Self::new(plan) })
    }

    fn with(plan: Plan) -> Arc<Self> {
        Arc::new(Self::new(plan))
    }

    fn new(plan: Plan) -> Self {
        Self {
            plan: Mutex::new(plan),
            counts: Mutex::default(),
            seen: Mutex::default(),
            mutation: None,
            silent: Mutex::default(),
            slow: Mutex::default(),
            record: Record::default(),
        }
    }

    /// From now on, calls that are `wanted` are never answered; `None` ends that.
    pub fn silence(&self, wanted: Option<CallFilter>) {
        *self.silent.lock() = wanted;
    }

    /// From now on, about every other call that is `wanted` arrives late, when others have done much in the
    /// meantime; `None` ends that.
    pub fn slow_down(&self, wanted: Option<CallFilter>) {
        *self.slow.lock() = wanted;
    }

    /// From now on keeps the calls that are `wanted`, for a test to look at.
    pub fn record(&self, wanted: CallFilter) {
        self.record.start(wanted);
    }

    /// The calls that were kept so far, in the order in which services had them.
    pub fn recorded(&self) -> Vec<Recorded> {
        self.record.kept()
    }

    /// How many calls were kept so far: where something else falls among them.
    pub fn recorded_count(&self) -> usize {
        self.record.count()
    }

    /// The request as the mutation, if there is one, would have it.
    pub(crate) fn tampered(&self, request: Request<Bytes>) -> Request<Bytes> {
        let Some(mutation) = self.mutation else { return request };
        let Ok(mut body) = serde_json::from_slice(request.body()) else { return request };
        let operation = crate::services::operation_of(&request).to_owned();
        mutation(&operation, &mut body);
        request.map(|_| Bytes::from(body.to_string()))
    }

    /// From now on, nothing more goes wrong.
    pub fn stop(&self) {
        *self.plan.lock() = Plan::Never;
    }

    /// Nothing goes wrong until [`Self::resume`].
    pub fn pause(&self) {
        let mut plan = self.plan.lock();
        let paused = std::mem::replace(&mut *plan, Plan::Never);
        *plan = Plan::Paused(Box::new(paused));
    }

    /// Takes up the plan that was paused.
    pub fn resume(&self) {
        let mut plan = self.plan.lock();
        if let Plan::Paused(paused) = std::mem::replace(&mut *plan, Plan::Never) {
            *plan = *paused;
        }
    }

    /// From now on, the `nth` call (from 0) meets `fault`, and nothing else goes wrong.
    pub fn strike(&self, nth: u64, fault: Fault) {
        *self.plan.lock() = Plan::At { countdown: nth, fault };
    }

    /// True when a strike is still to come.
    pub fn is_waiting(&self) -> bool {
        matches!(&*self.plan.lock(), Plan::At { .. })
    }

    /// How many faults of each kind there were.
    pub fn counts(&self) -> BTreeMap<Fault, u64> {
        self.counts.lock().clone()
    }

    fn count(&self, fault: Fault) {
        *self.counts.lock().entry(fault).or_default() += 1;
    }

    fn draw(&self, call: &Call) -> Option<Fault> {
        let mut plan = self.plan.lock();
        match &mut *plan {
            Plan::Never | Plan::Paused(_) => None,
            Plan::Seeded { dice, per_mille } => {
                if dice.below(1000) >= *per_mille {
                    return None;
                }
                let fitting = fitting(call);
                let index = usize::try_from(dice.below(fitting.len() as u64)).unwrap_or(0);
                fitting.get(index).copied()
            }
            Plan::At { countdown: 0, fault } => {
                let fault = *fault;
                *plan = Plan::Never;
                Some(fault)
            }
            Plan::At { countdown, .. } => {
                *countdown -= 1;
                None
            }
        }
    }

    /// Whether a delivery goes wrong in this way.
    pub(crate) fn delivery(&self, fault: Fault) -> bool {
        let struck = match &mut *self.plan.lock() {
            // Deliveries are few beside calls, so each is likelier to go wrong.
            Plan::Seeded { dice, per_mille } => dice.below(1000) < *per_mille * 4,
            Plan::Never | Plan::Paused(_) | Plan::At { .. } => false,
        };
        if struck {
            self.count(fault);
        }
        struck
    }

    /// A number below `bound` from the plan's stream; 0 when nothing goes wrong.
    pub(crate) fn below(&self, bound: u64) -> u64 {
        match &mut *self.plan.lock() {
            Plan::Seeded { dice, .. } => dice.below(bound),
            Plan::Never | Plan::Paused(_) | Plan::At { .. } => 0,
        }
    }

    /// Carries out a call, or lets it go wrong.
    pub(crate) async fn around<F: Future<Output = Response<Bytes>>>(
        &self,
        call: &Call,
        carry_out: impl FnOnce() -> F,
    ) -> Result<Response<Bytes>, ConnectorError> {
        // Others get a turn between any two calls, or a race could never happen on one thread.
        let slow = self.slow.lock().is_some_and(|wanted| wanted(call));
        let slow = if slow { SLOW_TURNS * self.below(2) } else { 0 };
        for _ in 0..=self.below(4) + slow {
            tokio::task::yield_now().await;
        }
        let silent = self.silent.lock().is_some_and(|wanted| wanted(call));
        if silent {
            std::future::pending::<()>().await;
        }
        let fault = self.draw(call);
        if let Some(fault) = fault.filter(|fault| *fault != Fault::StaleRead) {
            self.count(fault);
        }
        match fault {
            Some(Fault::Throttle) => return Ok(refusal(call.service, &THROTTLED)),
            Some(Fault::ServerError) => return Ok(refusal(call.service, &BROKEN)),
            Some(Fault::TransactionConflict) => return Ok(conflict(call)),
            Some(Fault::CutBefore) => return Err(ConnectorError::io("connection reset".into())),
            Some(Fault::StaleRead) => {
                let earlier = self.seen.lock().get(&call.body).cloned();
                if let Some(earlier) = earlier {
                    self.count(Fault::StaleRead);
                    return Ok(earlier);
                }
            }
            Some(Fault::CrashBefore) => die().await,
            Some(_) | None => {}
        }
        let answer = carry_out().await;
        self.record.note(call, answer.status().is_success());
        match fault {
            Some(Fault::CommitThenTimeout) => {
                return Err(ConnectorError::timeout("no answer".into()));
            }
            Some(Fault::CrashAfter) => die().await,
            Some(_) | None => {}
        }
        if reads_eventually(call) {
            self.seen.lock().insert(call.body.clone(), answer.clone());
        }
        Ok(answer)
    }
}

/// The faults that can happen to a call.
fn fitting(call: &Call) -> Vec<Fault> {
    let mut fitting = vec![
        Fault::Throttle,
        Fault::ServerError,
        Fault::CutBefore,
        Fault::CommitThenTimeout,
        Fault::CrashBefore,
        Fault::CrashAfter,
    ];
    if call.operation == "TransactWriteItems" {
        fitting.push(Fault::TransactionConflict);
    }
    if reads_eventually(call) {
        fitting.push(Fault::StaleRead);
    }
    fitting
}

fn reads_eventually(call: &Call) -> bool {
    let reads = matches!(call.operation.as_str(), "GetItem" | "Query" | "Scan" | "BatchGetItem");
    let consistent = b"\"ConsistentRead\":true";
    reads && !call.body.windows(consistent.len()).any(|window| window == consistent)
}

/// Tells whoever runs this invocation that it is over, and never goes on.
async fn die() {
    if let Ok(death) = DEATH.try_with(Arc::clone) {
        death.notify_one();
        std::future::pending::<()>().await;
    }
}
