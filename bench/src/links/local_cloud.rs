//! The local cloud as a process of its own: built once without link-time optimisation, asked over
//! its ports, watched through `/proc`, and ended with this struct.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::Result;
use crate::cold::target;

/// The admin key of the processes started here; it opens nothing else.
pub(crate) const KEY: &str = "root.bench";

/// The kernel's unit in `/proc/<pid>/stat`, which is the same on every Linux.
const TICKS_A_SECOND: f64 = 100.0;

/// A running local cloud.
pub(crate) struct LocalCloud {
    child: Child,
    /// Held, because a closed pipe would end the process.
    _stdout: BufReader<ChildStdout>,
    /// Host and port of the HTTP API.
    pub(crate) api: String,
    /// Host and port of the emulated AWS.
    pub(crate) aws: String,
}

impl LocalCloud {
    /// Starts it on free ports; in `folder`, or in memory, and pinned to a core if one is named.
    pub(crate) fn start(folder: Option<&Path>, core: Option<&str>) -> Result<Self> {
        let binary = build()?;
        let mut command = match core {
            Some(core) => {
                let mut pinned = Command::new("taskset");
                pinned.args(["-c", core]).arg(&binary);
                pinned
            }
            None => Command::new(&binary),
        };
        command.args(["--port", "0", "--aws-port", "0", "--quiet", "--admin-secret", "bench"]);
        match folder {
            Some(folder) => command.arg("--data").arg(folder).arg("--fresh"),
            None => command.arg("--memory"),
        };
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut stdout = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        let banner = banner(&mut stdout)?;
        let address = |name: &str| {
            let line = banner.lines().find_map(|line| line.trim().strip_prefix(name));
            let url = line.and_then(|line| line.split_whitespace().next());
            url.and_then(|url| url.strip_prefix("http://")).map(str::to_owned)
        };
        let (api, aws) = (address("API ").ok_or("no API")?, address("AWS ").ok_or("no AWS")?);
        Ok(Self { child, _stdout: stdout, api, aws })
    }

    /// Seconds of CPU that all its threads have had.
    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name in parentheses may hold anything, so count from behind it.
        let (_, fields) = stat.rsplit_once(')').ok_or("no stat")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        Ok(ticks.sum::<Result<f64, _>>()? / TICKS_A_SECOND)
    }
}

impl Drop for LocalCloud {
    fn drop(&mut self) {
        // It has no data to save, and may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads up to the line that says how to end it.
fn banner(stdout: &mut impl BufRead) -> Result<String> {
    let mut text = String::new();
    while !text.contains("Ctrl-C") {
        if stdout.read_line(&mut text)? == 0 {
            return Err("the local cloud did not start".into());
        }
    }
    Ok(text)
}

/// Link-time optimisation of the whole cloud takes many minutes and gains little, so it is built
/// without, in a folder of its own.
fn build() -> Result<PathBuf> {
    let folder = target()?.join("bench");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let status = Command::new(cargo)
        .args(["build", "--release", "--quiet", "-p", "local"])
        .args(["--config", r#"profile.release.lto="off""#])
        .args(["--config", "profile.release.codegen-units=16", "--target-dir"])
        .arg(&folder)
        .status()?;
    if status.success() {
        Ok(folder.join("release/switchyard"))
    } else {
        Err("building the local cloud failed".into())
    }
}
