//! What a seeded test lets go wrong, and where: at the SDK's connector and at the queue pump.
//!
//! A plan is a stream of random numbers from one seed. Every call to a service and every delivery
//! draws from it, in the order in which a single-threaded test runs them, so the same seed meets
//! the same faults. Injected faults are counted by kind.

mod record;
mod refusals;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use aws_smithy_runtime_api::client::result::ConnectorError;
use bytes::Bytes;
use domain::SplitMix64;
use http::{Request, Response};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::services::Service;
use record::Record;
use refusals::{SERVER_ERROR, THROTTLED, conflict, refusal};

pub use record::{CallFilter, RecordedCall};

/// What can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The service refuses at the moment; nothing is written.
    Throttle,
    /// The service answers 500; nothing is written.
    ServerError,
    /// The connection is reset before the request arrives.
    CutBefore,
    /// The request is carried out, and its answer lost.
    CommitThenTimeout,
    /// A transaction meets another one.
    TransactionConflict,
    /// An eventually consistent read shows an earlier state.
    StaleRead,
    /// The function crashes before the call.
    CrashBefore,
    /// The function crashes after the call was carried out.
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
pub struct ServiceCall {
    pub service: Service,
    pub operation: String,
    pub body: Bytes,
}

/// What goes wrong in one test.
pub struct Faults {
    plan: Mutex<Plan>,
    counts: Mutex<BTreeMap<Fault, u64>>,
    earlier_answers: Mutex<HashMap<Bytes, Response<Bytes>>>,
    mutation: Option<Mutation>,
    hanging: Mutex<Option<CallFilter>>,
    delayed: Mutex<Option<CallFilter>>,
    record: Record,
}

/// How often a delayed call yields to other tasks first.
const SLOW_YIELDS: u64 = 250;

/// Changes a request on its way to a service: what a function would send if it had a bug. It gets
/// the operation's name and its JSON; what it returns is sent instead.
pub type Mutation = fn(&str, &mut serde_json::Value);

enum Plan {
    None,
    /// Nothing goes wrong until the plan within is resumed.
    Paused(Box<Plan>),
    Seeded {
        dice: SplitMix64,
        per_mille: u64,
    },
    /// The call of this number meets this fault, and no other does.
    Nth {
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
    /// Notified when the invocation of this task is to crash.
    pub static CRASH: Arc<Notify>;
}

impl Faults {
    /// Nothing goes wrong.
    pub fn none() -> Arc<Self> {
        Self::with(Plan::None)
    }

    /// Each call and delivery meets a fault with a probability of `per_mille`.
    pub fn seeded(seed: u64, per_mille: u64) -> Arc<Self> {
        Self::with(Plan::Seeded { dice: SplitMix64::new(seed), per_mille })
    }

    /// The same, with a mutation of the product's requests.
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
            earlier_answers: Mutex::default(),
            mutation: None,
            hanging: Mutex::default(),
            delayed: Mutex::default(),
            record: Record::default(),
        }
    }

    /// From now on, calls that match are never answered; `None` ends that.
    pub fn hang(&self, wanted: Option<CallFilter>) {
        *self.hanging.lock() = wanted;
    }

    /// From now on, about every other call that matches is delayed while other tasks run; `None` ends
    /// that.
    pub fn delay(&self, wanted: Option<CallFilter>) {
        *self.delayed.lock() = wanted;
    }

    /// Records the calls that match from now on, for a test.
    pub fn record(&self, wanted: CallFilter) {
        self.record.start(wanted);
    }

    /// The calls recorded so far, in the order in which services carried them out.
    pub fn recorded(&self) -> Vec<RecordedCall> {
        self.record.calls()
    }

    /// The number of calls recorded so far: a position in their order.
    pub fn recorded_count(&self) -> usize {
        self.record.count()
    }

    /// The request with the mutation, if there is one, applied.
    pub(crate) fn mutated_request(&self, request: Request<Bytes>) -> Request<Bytes> {
        let Some(mutation) = self.mutation else { return request };
        let Ok(mut body) = serde_json::from_slice(request.body()) else { return request };
        let operation = crate::services::operation_of(&request).to_owned();
        mutation(&operation, &mut body);
        request.map(|_| Bytes::from(body.to_string()))
    }

    /// From now on, nothing more goes wrong.
    pub fn stop(&self) {
        *self.plan.lock() = Plan::None;
    }

    /// Nothing goes wrong until [`Self::resume`].
    pub fn pause(&self) {
        let mut plan = self.plan.lock();
        let paused = std::mem::replace(&mut *plan, Plan::None);
        *plan = Plan::Paused(Box::new(paused));
    }

    /// Resumes the plan that was paused.
    pub fn resume(&self) {
        let mut plan = self.plan.lock();
        if let Plan::Paused(paused) = std::mem::replace(&mut *plan, Plan::None) {
            *plan = *paused;
        }
    }

    /// From now on, the `nth` call (from 0) meets `fault`, and nothing else goes wrong.
    pub fn inject(&self, nth: u64, fault: Fault) {
        *self.plan.lock() = Plan::Nth { countdown: nth, fault };
    }

    /// True when a inject is still to come.
    pub fn is_pending(&self) -> bool {
        matches!(&*self.plan.lock(), Plan::Nth { .. })
    }

    /// How many faults of each kind there were.
    pub fn counts(&self) -> BTreeMap<Fault, u64> {
        self.counts.lock().clone()
    }

    fn count(&self, fault: Fault) {
        *self.counts.lock().entry(fault).or_default() += 1;
    }

    fn next_fault(&self, call: &ServiceCall) -> Option<Fault> {
        let mut plan = self.plan.lock();
        match &mut *plan {
            Plan::None | Plan::Paused(_) => None,
            Plan::Seeded { dice, per_mille } => {
                if dice.below(1000) >= *per_mille {
                    return None;
                }
                let possible_faults = possible_faults(call);
                let index = dice.index(possible_faults.len());
                possible_faults.get(index).copied()
            }
            Plan::Nth { countdown: 0, fault } => {
                let fault = *fault;
                *plan = Plan::None;
                Some(fault)
            }
            Plan::Nth { countdown, .. } => {
                *countdown -= 1;
                None
            }
        }
    }

    /// Whether a delivery goes wrong in this way.
    pub(crate) fn hits_delivery(&self, fault: Fault) -> bool {
        let struck = match &mut *self.plan.lock() {
            // Deliveries are few beside calls, so each is likelier to go wrong.
            Plan::Seeded { dice, per_mille } => dice.below(1000) < *per_mille * 4,
            Plan::None | Plan::Paused(_) | Plan::Nth { .. } => false,
        };
        if struck {
            self.count(fault);
        }
        struck
    }

    /// A number below `bound` from the plan's stream; 0 when nothing goes wrong.
    pub(crate) fn random_below(&self, bound: u64) -> u64 {
        match &mut *self.plan.lock() {
            Plan::Seeded { dice, .. } => dice.below(bound),
            Plan::None | Plan::Paused(_) | Plan::Nth { .. } => 0,
        }
    }

    /// Carries out a call, or injects a fault into it.
    pub(crate) async fn intercept<F: Future<Output = Response<Bytes>>>(
        &self,
        call: &ServiceCall,
        call_service: impl FnOnce() -> F,
    ) -> Result<Response<Bytes>, ConnectorError> {
        // Other tasks run between any two calls, or a race could never happen on one thread.
        let slow = self.delayed.lock().is_some_and(|wanted| wanted(call));
        let slow = if slow { SLOW_YIELDS * self.random_below(2) } else { 0 };
        for _ in 0..=self.random_below(4) + slow {
            tokio::task::yield_now().await;
        }
        let hanging = self.hanging.lock().is_some_and(|wanted| wanted(call));
        if hanging {
            std::future::pending::<()>().await;
        }
        let fault = self.next_fault(call);
        if let Some(fault) = fault.filter(|fault| *fault != Fault::StaleRead) {
            self.count(fault);
        }
        match fault {
            Some(Fault::Throttle) => return Ok(refusal(call.service, &THROTTLED)),
            Some(Fault::ServerError) => return Ok(refusal(call.service, &SERVER_ERROR)),
            Some(Fault::TransactionConflict) => return Ok(conflict(call)),
            Some(Fault::CutBefore) => return Err(ConnectorError::io("connection reset".into())),
            Some(Fault::StaleRead) => {
                let earlier = self.earlier_answers.lock().get(&call.body).cloned();
                if let Some(earlier) = earlier {
                    self.count(Fault::StaleRead);
                    return Ok(earlier);
                }
            }
            Some(Fault::CrashBefore) => crash().await,
            Some(_) | None => {}
        }
        let answer = call_service().await;
        self.record.push(call, answer.status().is_success());
        match fault {
            Some(Fault::CommitThenTimeout) => {
                return Err(ConnectorError::timeout("no answer".into()));
            }
            Some(Fault::CrashAfter) => crash().await,
            Some(_) | None => {}
        }
        if reads_eventually(call) {
            self.earlier_answers.lock().insert(call.body.clone(), answer.clone());
        }
        Ok(answer)
    }
}

/// The faults that can happen to a call.
fn possible_faults(call: &ServiceCall) -> Vec<Fault> {
    let mut possible_faults = vec![
        Fault::Throttle,
        Fault::ServerError,
        Fault::CutBefore,
        Fault::CommitThenTimeout,
        Fault::CrashBefore,
        Fault::CrashAfter,
    ];
    if call.operation == "TransactWriteItems" {
        possible_faults.push(Fault::TransactionConflict);
    }
    if reads_eventually(call) {
        possible_faults.push(Fault::StaleRead);
    }
    possible_faults
}

fn reads_eventually(call: &ServiceCall) -> bool {
    let reads = matches!(call.operation.as_str(), "GetItem" | "Query" | "Scan" | "BatchGetItem");
    let consistent = b"\"ConsistentRead\":true";
    reads && !call.body.windows(consistent.len()).any(|window| window == consistent)
}

/// Ends the invocation that this call belongs to: signals its instance and never returns.
async fn crash() {
    if let Ok(crash) = CRASH.try_with(Arc::clone) {
        crash.notify_one();
        std::future::pending::<()>().await;
    }
}
