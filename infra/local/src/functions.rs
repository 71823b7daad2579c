//! Functions as Lambda runs them: warm instances that serve one invocation at a time.
//!
//! An invocation takes an idle instance or makes a new one, so concurrent requests meet separate
//! memories, as they do when deployed. A caller has the answer as soon as it is there; the instance is
//! idle again once it has done what it does afterwards. One that died or ran out of time, before or
//! after its answer, is not used again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use boundary::{FunctionFactory, Host, Invocation, Vars};
use parking_lot::Mutex;
use template::{Function, Stack};
use tokio::sync::watch;

use crate::policy::Policy;
use crate::systems;
use instance::{Instance, Life};

mod instance;

/// What an invocation ended with.
pub type Outcome = Result<Vec<u8>, String>;

/// Makes the host of a new instance from its variables and its policy.
pub type Hosts = Arc<dyn Fn(Vars, Policy) -> Host + Send + Sync>;

/// Where functions run.
#[derive(Clone)]
pub enum Runner {
    /// In this process; some by name that are not the product's, for tests.
    Here(Hosts, Arc<BTreeMap<String, FunctionFactory>>),
    /// Behind `cargo lambda watch` at this address, by function name.
    There(crate::server::Remote),
}

/// `cargo lambda watch` compiles a function when it is first invoked, and enforces time-outs itself.
const COMPILING: Duration = Duration::from_mins(10);

/// Every function of the stack.
#[derive(Clone)]
pub struct Functions {
    slots: Arc<BTreeMap<String, Arc<Slot>>>,
    runner: Runner,
    busy: watch::Sender<usize>,
    now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
}

impl std::fmt::Debug for Functions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.slots.keys()).finish()
    }
}

struct Slot {
    binary: String,
    vars: Vars,
    policy: Policy,
    timeout: Duration,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    instance: Instance,
    since: tokio::time::Instant,
}

impl Functions {
    /// The functions of `stack`; in process, each is built once to show that it is configured.
    pub fn new(
        stack: &Stack,
        runner: Runner,
        base_vars: &BTreeMap<String, String>,
        now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    ) -> Result<Self, String> {
        let slots = stack.functions.iter().map(|function| {
            let vars = vars_of(function, base_vars);
            let slot = Slot {
                binary: function.binary.clone(),
                vars: vars.into_iter().collect(),
                policy: Policy::new(function.policies.clone()),
                timeout: Duration::from_secs(function.timeout_seconds),
                idle: Mutex::default(),
            };
            (function.logical_id.clone(), Arc::new(slot))
        });
        let busy = watch::Sender::new(0);
        let functions = Self { slots: Arc::new(slots.collect()), runner, busy, now_ms };
        if let Runner::Here(host, others) = &functions.runner {
            for slot in functions.slots.values() {
                let instance = slot.start(host, others)?;
                slot.put_back(instance);
            }
        }
        Ok(functions)
    }

    /// Invokes the function with that logical id.
    pub async fn invoke(&self, logical_id: &str, event: Vec<u8>) -> Outcome {
        let slot = self
            .slots
            .get(logical_id)
            .ok_or_else(|| format!("there is no function {logical_id}"))?;
        match &self.runner {
            Runner::There(remote) => remote.invoke(&slot.binary, event, COMPILING).await,
            Runner::Here(host, others) => {
                let instance = match slot.take_idle() {
                    Some(instance) => instance,
                    None => slot.start(host, others)?,
                };
                let deadline =
                    (self.now_ms)() + i64::try_from(slot.timeout.as_millis()).unwrap_or(0);
                let invocation = Invocation {
                    request_id: format!("{logical_id}-{deadline}"),
                    deadline_ms: u64::try_from(deadline).unwrap_or(0),
                };
                let life = Life { slot: Arc::clone(slot), busy: self.busy.clone() };
                life.run(instance, event, invocation).await
            }
        }
    }

    /// How long a caller should wait for an answer, given what API Gateway would.
    pub fn patience(&self, usual: Duration) -> Duration {
        match &self.runner {
            Runner::Here(..) => usual,
            Runner::There(_) => COMPILING,
        }
    }

    /// The policy of the function with that logical id, with what it has used so far.
    pub fn policy(&self, logical_id: &str) -> Option<&Policy> {
        self.slots.get(logical_id).map(|slot| &slot.policy)
    }

    /// Forgets every warm instance, without warning: the next invocation of each function is a cold
    /// start.
    pub fn go_cold(&self) {
        for slot in self.slots.values() {
            slot.take_idle_for(Duration::ZERO);
        }
    }

    /// Waits until no instance is at work that has answered already.
    pub async fn quiesce(&self) {
        // The sender is ours, so there is always someone to hear from.
        let _ = self.busy.subscribe().wait_for(|busy| *busy == 0).await;
    }

    /// Ends every instance that has been idle for `so_long`, as Lambda does: it is told, has half a
    /// second, and is gone.
    pub async fn retire(&self, so_long: Duration) {
        for slot in self.slots.values() {
            for instance in slot.take_idle_for(so_long) {
                instance::end(instance).await;
            }
        }
    }
}

impl Slot {
    fn start(
        &self,
        host: &Hosts,
        others: &BTreeMap<String, FunctionFactory>,
    ) -> Result<Instance, String> {
        let host = host(self.vars.clone(), self.policy.clone());
        let build = others.get(&self.binary).cloned().or_else(|| systems::build(&self.binary));
        match build {
            Some(build) => {
                build.create(&host).map_err(|error| format!("function {}: {error}", self.binary))
            }
            None => Err(format!(
                "a template names a function `{}` that no system in infra/local/src/systems.rs has",
                self.binary
            )),
        }
    }

    fn take_idle(&self) -> Option<Instance> {
        Some(self.idle().pop()?.instance)
    }

    fn take_idle_for(&self, so_long: Duration) -> Vec<Instance> {
        let mut idle = self.idle();
        let taken = idle.extract_if(.., |idle| idle.since.elapsed() >= so_long);
        taken.map(|idle| idle.instance).collect()
    }

    fn put_back(&self, instance: Instance) {
        self.idle().push(Idle { instance, since: tokio::time::Instant::now() });
    }

    fn idle(&self) -> parking_lot::MutexGuard<'_, Vec<Idle>> {
        self.idle.lock()
    }
}

/// A function's environment: what Lambda adds, then what the template sets.
pub fn vars_of(function: &Function, base: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut vars = base.clone();
    vars.extend(function.environment.clone());
    vars
}
