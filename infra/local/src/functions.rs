//! Functions as Lambda runs them: warm instances that serve one invocation at a time.
//!
//! An invocation takes an idle instance or makes a new one, so concurrent requests have separate
//! memories, as they do when deployed. The caller gets the answer as soon as it is there; the instance is
//! idle again after its work that follows the answer. An instance that crashed or timed out, before or
//! after its answer, is not used again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use boundary::{FunctionFactory, Host, Invocation, Vars};
use parking_lot::Mutex;
use template::{Function, Stack};
use tokio::sync::watch;

use crate::policy::RolePolicy;
use crate::systems;
use instance::{Instance, Invoker};

mod instance;

/// The response of an invocation, or why it failed.
pub type InvocationResult = Result<Vec<u8>, String>;

/// Makes the host of a new instance from its variables and its policy.
pub type HostFactory = Arc<dyn Fn(Vars, RolePolicy) -> Host + Send + Sync>;

/// Where functions run.
#[derive(Clone)]
pub enum Runner {
    /// In this process; tests add functions by name.
    InProcess(HostFactory, Arc<BTreeMap<String, FunctionFactory>>),
    /// Behind `cargo lambda watch` at this address, by function name.
    Remote(crate::remote::RemoteFunctions),
}

/// `cargo lambda watch` compiles a function when it is first invoked, and enforces time-outs itself.
const COMPILE_TIMEOUT: Duration = Duration::from_mins(10);

/// Every function of the stack.
#[derive(Clone)]
pub struct Functions {
    pools: Arc<BTreeMap<String, Arc<Pool>>>,
    runner: Runner,
    busy: watch::Sender<usize>,
    now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
}

impl std::fmt::Debug for Functions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.pools.keys()).finish()
    }
}

struct Pool {
    binary: String,
    vars: Vars,
    policy: RolePolicy,
    timeout: Duration,
    idle: Mutex<Vec<IdleInstance>>,
}

struct IdleInstance {
    instance: Instance,
    since: tokio::time::Instant,
}

impl Functions {
    /// The functions of `stack`; in process, each is built once to show that it is configured.
    pub fn new(
        stack: &Stack,
        runner: Runner,
        lambda_environment: &BTreeMap<String, String>,
        now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    ) -> Result<Self, String> {
        let pools = stack.functions.iter().map(|function| {
            let vars = environment(function, lambda_environment);
            let pool = Pool {
                binary: function.binary.clone(),
                vars: vars.into_iter().collect(),
                policy: RolePolicy::new(function.policies.clone()),
                timeout: Duration::from_secs(function.timeout_seconds),
                idle: Mutex::default(),
            };
            (function.logical_id.clone(), Arc::new(pool))
        });
        let busy = watch::Sender::new(0);
        let functions = Self { pools: Arc::new(pools.collect()), runner, busy, now_ms };
        if let Runner::InProcess(host, others) = &functions.runner {
            for pool in functions.pools.values() {
                let instance = pool.start(host, others)?;
                pool.put_back(instance);
            }
        }
        Ok(functions)
    }

    /// Invokes the function with that logical id.
    pub async fn invoke(&self, logical_id: &str, event: Vec<u8>) -> InvocationResult {
        let pool = self
            .pools
            .get(logical_id)
            .ok_or_else(|| format!("there is no function {logical_id}"))?;
        match &self.runner {
            Runner::Remote(remote) => remote.invoke(&pool.binary, event, COMPILE_TIMEOUT).await,
            Runner::InProcess(host, others) => {
                let instance = match pool.take_idle() {
                    Some(instance) => instance,
                    None => pool.start(host, others)?,
                };
                let deadline =
                    (self.now_ms)() + i64::try_from(pool.timeout.as_millis()).unwrap_or(0);
                let invocation = Invocation {
                    request_id: format!("{logical_id}-{deadline}"),
                    deadline_ms: u64::try_from(deadline).unwrap_or(0),
                };
                let invoker = Invoker { pool: Arc::clone(pool), busy: self.busy.clone() };
                invoker.run(instance, event, invocation).await
            }
        }
    }

    /// How long a caller waits for an answer: `usual`, or as long as compiling takes.
    pub fn timeout(&self, usual: Duration) -> Duration {
        match &self.runner {
            Runner::InProcess(..) => usual,
            Runner::Remote(_) => COMPILE_TIMEOUT,
        }
    }

    /// The policy of the function with that logical id, with what it has used so far.
    pub fn policy(&self, logical_id: &str) -> Option<&RolePolicy> {
        self.pools.get(logical_id).map(|pool| &pool.policy)
    }

    /// Forgets every warm instance, without warning: the next invocation of each function is a cold
    /// start.
    pub fn go_cold(&self) {
        for pool in self.pools.values() {
            pool.take_idle_since(Duration::ZERO);
        }
    }

    /// Waits until no instance works on after its answer.
    pub async fn quiesce(&self) {
        // This value holds the sender, so the channel stays open.
        let _ = self.busy.subscribe().wait_for(|busy| *busy == 0).await;
    }

    /// Ends every instance that has been idle for `idle_for`, as Lambda does: it gets half a second
    /// to shut down.
    pub async fn retire(&self, idle_for: Duration) {
        for pool in self.pools.values() {
            for instance in pool.take_idle_since(idle_for) {
                instance::shut_down(instance).await;
            }
        }
    }
}

impl Pool {
    fn start(
        &self,
        host: &HostFactory,
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

    fn take_idle_since(&self, idle_for: Duration) -> Vec<Instance> {
        let mut idle = self.idle();
        let taken = idle.extract_if(.., |idle| idle.since.elapsed() >= idle_for);
        taken.map(|idle| idle.instance).collect()
    }

    fn put_back(&self, instance: Instance) {
        self.idle().push(IdleInstance { instance, since: tokio::time::Instant::now() });
    }

    fn idle(&self) -> parking_lot::MutexGuard<'_, Vec<IdleInstance>> {
        self.idle.lock()
    }
}

/// A function's environment: what Lambda adds, then what the template sets.
pub fn environment(
    function: &Function,
    base: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut vars = base.clone();
    vars.extend(function.environment.clone());
    vars
}
