//! Functions as Lambda runs them: warm instances that serve one invocation at a time.
//!
//! An invocation takes an idle instance or makes a new one, so concurrent requests meet separate
//! memories, as they do when deployed. An instance that died or ran out of time is not used again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use boundary::{Host, Invocation, Misconfigured, Vars};
use futures::future::BoxFuture;
use template::{Function, Stack};
use tokio::sync::Notify;

use crate::faults::DEATH;
use crate::policy::Policy;

/// One warm instance: event JSON in, answer JSON out.
type Instance = Arc<dyn Fn(Vec<u8>, Invocation) -> BoxFuture<'static, Outcome> + Send + Sync>;

/// What an invocation ended with.
pub type Outcome = Result<Vec<u8>, String>;

/// Makes the host of a new instance from its variables and its policy.
pub type Hosts = Arc<dyn Fn(Vars, Policy) -> Host + Send + Sync>;

/// Where functions run.
#[derive(Clone)]
pub enum Runner {
    /// In this process.
    Here(Hosts),
    /// Behind `cargo lambda watch` at this address, by function name.
    There(crate::server::Remote),
}

/// `cargo lambda watch` compiles a function when it is first invoked, and enforces time-outs itself.
const COMPILING: Duration = Duration::from_mins(10);

/// Every function of the stack.
#[derive(Clone)]
pub struct Functions {
    slots: Arc<BTreeMap<String, Slot>>,
    runner: Runner,
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
    idle: Mutex<Vec<Instance>>,
}

/// Builds the function of that name with the handler that its `main.rs` wires.
macro_rules! registry {
    ($($name:literal => $package:ident),* $(,)?) => {
        /// The functions that can run in process.
        pub const KNOWN: &[&str] = &[$($name),*];

        fn build(name: &str, host: &Host) -> Option<Result<Instance, Misconfigured>> {
            match name {
                $($name => Some($package::function(host).map(|function| {
                    let instance: Instance = Arc::new(move |event, invocation| {
                        let function = function.clone();
                        Box::pin(async move { function.invoke(&event, invocation).await })
                    });
                    instance
                })),)*
                _ => None,
            }
        }
    };
}

registry! {
    "accounts" => accounts,
    "describe" => describe,
    "ids" => ids,
    "sweep-accounts" => sweep_accounts,
    "tend-keys" => tend_keys,
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
            (function.logical_id.clone(), slot)
        });
        let functions = Self { slots: Arc::new(slots.collect()), runner, now_ms };
        if let Runner::Here(host) = &functions.runner {
            for slot in functions.slots.values() {
                let instance = slot.start(host)?;
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
            Runner::Here(host) => {
                let instance = match slot.take_idle() {
                    Some(instance) => instance,
                    None => slot.start(host)?,
                };
                let deadline =
                    (self.now_ms)() + i64::try_from(slot.timeout.as_millis()).unwrap_or(0);
                let invocation = Invocation {
                    request_id: format!("{logical_id}-{deadline}"),
                    deadline_ms: u64::try_from(deadline).unwrap_or(0),
                };
                slot.run(instance, event, invocation).await
            }
        }
    }

    /// How long a caller should wait for an answer, given what API Gateway would.
    pub fn patience(&self, usual: Duration) -> Duration {
        match &self.runner {
            Runner::Here(_) => usual,
            Runner::There(_) => COMPILING,
        }
    }

    /// The policy of the function with that logical id, with what it has used so far.
    pub fn policy(&self, logical_id: &str) -> Option<&Policy> {
        self.slots.get(logical_id).map(|slot| &slot.policy)
    }

    /// Forgets every warm instance: the next invocation of each function is a cold start.
    pub fn go_cold(&self) {
        for slot in self.slots.values() {
            slot.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }
}

impl Slot {
    fn start(&self, host: &Hosts) -> Result<Instance, String> {
        match build(&self.binary, &host(self.vars.clone(), self.policy.clone())) {
            Some(built) => built.map_err(|error| format!("function {}: {error}", self.binary)),
            None => Err(format!(
                "template.yaml names a function `{}` that infra/local/src/functions.rs does not list",
                self.binary
            )),
        }
    }

    fn take_idle(&self) -> Option<Instance> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn put_back(&self, instance: Instance) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(instance);
    }

    /// Runs one invocation on a task of its own: a panic, a death or a time-out ends it alone.
    async fn run(&self, instance: Instance, event: Vec<u8>, invocation: Invocation) -> Outcome {
        let death = Arc::new(Notify::new());
        let work = DEATH.scope(Arc::clone(&death), instance(event, invocation));
        let mut task = tokio::spawn(work);
        let ended = tokio::select! {
            ended = &mut task => ended,
            () = death.notified() => {
                task.abort();
                return Err("the function died".to_owned());
            }
            () = tokio::time::sleep(self.timeout) => {
                task.abort();
                return Err(format!("Task timed out after {} seconds", self.timeout.as_secs()));
            }
        };
        let outcome = ended.map_err(|error| format!("the function panicked: {error}"))?;
        self.put_back(instance);
        outcome
    }
}

/// A function's environment: what Lambda adds, then what the template sets.
pub fn vars_of(function: &Function, base: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut vars = base.clone();
    vars.extend(function.environment.clone());
    vars
}
