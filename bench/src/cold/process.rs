//! Runs a function's binary against the stubs, as it is or under callgrind.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::process::{Child, Command};

use super::runtime_api::RuntimeApi;
use super::sample::{self, Sample};
use super::store::Store;
use crate::Result;

/// A process that has not answered by then never will; callgrind makes it some fifty times slower.
const TIMEOUT: Duration = Duration::from_mins(2);

/// Where a process runs and whom it trusts.
pub(crate) struct Harness<'a> {
    pub(crate) store: &'a Store,
    /// The release binary.
    pub(crate) binary: &'a Path,
    /// A PEM file with the root certificates to trust.
    pub(crate) trust: &'a Path,
    pub(crate) sample: &'a Sample<'a>,
}

/// What was seen of a process that ran as it is.
pub(crate) struct Measured {
    /// From starting the process to its first answer.
    pub(crate) first_answer: Duration,
    /// The median of the answers after the first.
    pub(crate) warm: Duration,
    pub(crate) peak_kib: u64,
    pub(crate) store_calls: u64,
}

impl Harness<'_> {
    /// Answers `invokes` events and is timed.
    pub(crate) fn time(&self, invokes: usize) -> Result<Measured> {
        let run = self.run(Command::new(self.binary), invokes)?;
        let first_answer_at = run.api.first_answer_at().ok_or("it never answered")?;
        let warm = run.api.warm();
        Ok(Measured {
            first_answer: first_answer_at - run.started_at,
            warm: warm.get(warm.len() / 2).copied().unwrap_or_default(),
            peak_kib: run.peak_kib,
            store_calls: run.store_calls,
        })
    }

    /// Answers `invokes` events under callgrind, and says how many instructions that took from the
    /// first of the dynamic loader to standing idle. The profile is kept at `profile`.
    pub(crate) fn count(&self, invokes: usize, profile: &Path) -> Result<u64> {
        let mut valgrind = Command::new("valgrind");
        valgrind
            .args(["--tool=callgrind", "--quiet"])
            .arg(format!("--callgrind-out-file={}", profile.display()))
            .arg(self.binary);
        self.run(valgrind, invokes)?;
        total(profile)
    }

    fn run(&self, command: Command, invokes: usize) -> Result<Run> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        tokio::task::LocalSet::new().block_on(&runtime, self.drive(command, invokes))
    }

    async fn drive(&self, mut command: Command, invokes: usize) -> Result<Run> {
        let api = RuntimeApi::new(&self.sample.event(), invokes);
        let calls = Rc::new(Cell::new(0));
        let (to_api, to_store) =
            (TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("localhost:0").await?);
        command
            .env_clear()
            .envs(sample::environment())
            .env("AWS_LAMBDA_RUNTIME_API", to_api.local_addr()?.to_string())
            .env("AWS_ENDPOINT_URL", format!("https://localhost:{}", to_store.local_addr()?.port()))
            .env("SSL_CERT_FILE", self.trust)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true);
        let served = async {
            tokio::join!(Rc::clone(&api).serve(to_api), self.store.serve(to_store, calls.clone()))
        };
        let started_at = Instant::now();
        let mut child = command.spawn()?;
        tokio::select! {
            _ = served => return Err("the stubs stopped".into()),
            exit = child.wait() => return Err(format!("it ended by itself: {}", exit?).into()),
            () = tokio::time::sleep(TIMEOUT) => return Err("it took too long".into()),
            () = api.finished() => {}
        }
        if let Some(problem) = api.problem() {
            return Err(problem.into());
        }
        let peak_kib = peak_kib(&child)?;
        end(&mut child).await?;
        Ok(Run { api, started_at, peak_kib, store_calls: calls.get() })
    }
}

/// A process that ran to its end.
struct Run {
    api: Rc<RuntimeApi>,
    started_at: Instant,
    peak_kib: u64,
    store_calls: u64,
}

/// The most memory the process ever had resident, as the kernel counts it.
fn peak_kib(child: &Child) -> Result<u64> {
    let pid = child.id().ok_or("it has ended")?;
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = peak.and_then(|peak| peak.split_whitespace().next()).ok_or("no VmHWM")?;
    Ok(number.parse()?)
}

/// Asks the process to end, because callgrind writes its totals only if it is asked.
async fn end(child: &mut Child) -> Result {
    let pid = child.id().ok_or("it has ended")?;
    Command::new("kill").args(["-TERM", &pid.to_string()]).status().await?;
    tokio::time::timeout(TIMEOUT, child.wait()).await??;
    Ok(())
}

/// Builds a function as it is deployed and says where it is.
pub(crate) fn build(sample: &Sample<'_>) -> Result<PathBuf> {
    cargo_build(sample.build)?;
    Ok(target()?.join("release").join(sample.binary))
}

/// Builds for release what `what` says.
pub(crate) fn cargo_build(what: &[&str]) -> Result {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let arguments = [&["build", "--release", "--quiet"], what].concat();
    let status = std::process::Command::new(cargo).args(&arguments).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`cargo {}` failed", arguments.join(" ")).into())
    }
}

/// The instructions that a callgrind profile adds up to.
pub(crate) fn total(profile: &Path) -> Result<u64> {
    let text = fs::read_to_string(profile)?;
    let totals = text.lines().rev().find_map(|line| line.strip_prefix("totals: "));
    Ok(totals.ok_or("callgrind left no totals")?.trim().parse()?)
}

/// The target directory that this very program was built in.
pub(crate) fn target() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let target = program.parent().and_then(Path::parent).ok_or("no target directory")?;
    Ok(target.to_owned())
}
