//! Console output: the banner, and one line for each request, batch and scheduled run.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{IsTerminal, Write as _};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use boundary::System;
use boundary::telemetry::Log;
use local::cloud::lambda_environment;
use local::functions::InvocationResult;
use local::gateway::Handled;
use local::pump::{BatchOutcome, EventSourceMapping};
use local::schedule::ScheduleEntry;
use local::{Cloud, systems};
use template::Stack;

/// Writes a line to standard output.
#[expect(clippy::print_stdout, reason = "the console is this program's purpose")]
pub(crate) fn print(text: &str) {
    println!("{text}");
}

/// Writes a line to standard error.
#[expect(clippy::print_stderr, reason = "the console is this program's purpose")]
pub(crate) fn print_error(text: &str) {
    eprintln!("switchyard: {text}");
}

pub(crate) struct Console {
    quiet: bool,
    coloured: bool,
}

const GREEN: &str = "32";
const YELLOW: &str = "33";
const RED: &str = "31";
const BLUE: &str = "36";
const DIM: &str = "2";
const BOLD: &str = "1";

impl Console {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, coloured: std::io::stdout().is_terminal() }
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.coloured { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(crate) fn banner(
        &self,
        cloud: &Cloud,
        url: &str,
        admin_key: &str,
        aws_url: Option<&str>,
        folder: Option<&Path>,
    ) {
        let stack = &cloud.stack;
        let kept = folder.map_or_else(
            || "in memory; gone when this ends".to_owned(),
            |folder| format!("{} (start over with --fresh)", folder.display()),
        );
        let mut text = String::new();
        let mut row = |name: &str, value: &str| {
            let _ = writeln!(text, "  {}  {value}", self.paint(DIM, &format!("{name:<13}")));
        };
        row("API", &self.paint(BOLD, url));
        row("Docs", &format!("{url}/docs"));
        row("Admin key", admin_key);
        row("Data", &kept);
        if let Some(sink) = &cloud.sink {
            row(
                "Sent",
                &format!("{url}/_sink  (SMTP at {}, HTTP at {})", sink.smtp(), sink.http()),
            );
        }
        for api in &stack.websockets {
            let at =
                url.replacen("http", "ws", 1) + local::websocket::PATH_PREFIX + &api.logical_id;
            row("WebSocket", &at);
        }
        if let Some(aws_url) = aws_url {
            row("AWS", &format!("{aws_url}  (DynamoDB, SQS, SNS, S3)"));
        }
        row(
            "Running",
            &[
                (stack.functions.len(), "function"),
                (stack.tables.len(), "table"),
                (stack.queues.len(), "queue"),
                (stack.topics.len(), "topic"),
                (cloud.schedules.entries().len(), "schedule"),
            ]
            .map(|(count, what)| format!("{count} {what}{}", if count == 1 { "" } else { "s" }))
            .join(", "),
        );
        let title = self.paint(BOLD, "Switchyard");
        let env = folder
            .map_or_else(String::new, |folder| format!("  source {}/env\n", folder.display()));
        let set = if env.is_empty() {
            format!("  SWITCHYARD_URL={url} SWITCHYARD_ADMIN_KEY={admin_key}\n")
        } else {
            env
        };
        let running: Vec<System> =
            systems::all().into_iter().filter(|it| is_deployed(stack, it)).collect();
        for system in &running {
            row(system.title, system.about);
        }
        print(&format!(
            "\n{title}, on this machine\n\n{text}\n{}\n{set}{}\n{}\n",
            self.paint(DIM, "Try, in another terminal:"),
            examples(&running),
            self.paint(DIM, "Ctrl-C ends it.")
        ));
    }

    pub(crate) fn request(&self, method: &str, path: &str, handled: &Handled, took: Duration) {
        if self.quiet {
            return;
        }
        let status = handled.response.status();
        let colour = match status.as_u16() {
            0..400 => GREEN,
            400..500 => YELLOW,
            _ => RED,
        };
        print(&format!(
            "{} {method:<6} {path} {}",
            self.paint(colour, status.as_str()),
            self.paint(
                DIM,
                &format!(
                    "{} {}",
                    handled.function.as_deref().unwrap_or("gateway"),
                    milliseconds(took)
                )
            )
        ));
    }

    pub(crate) fn batch(
        &self,
        mapping: &EventSourceMapping,
        outcome: &BatchOutcome,
        took: Duration,
    ) {
        if self.quiet {
            return;
        }
        for (id, failed) in &outcome.messages {
            let (colour, outcome) = match (&outcome.error, failed) {
                (Some(error), _) => (RED, format!(" failed: {error}")),
                (None, true) => (YELLOW, " failed".to_owned()),
                (None, false) => (BLUE, String::new()),
            };
            let start = id.split('-').next().unwrap_or(id);
            print(&format!(
                "{} {} {start}{outcome} {}",
                self.paint(colour, "msg"),
                mapping.queue,
                self.paint(DIM, &format!("{} {}", mapping.function, milliseconds(took)))
            ));
        }
    }

    pub(crate) fn scheduled(
        &self,
        entry: &ScheduleEntry,
        outcome: &InvocationResult,
        took: Duration,
    ) {
        if self.quiet {
            return;
        }
        let (colour, said) = match outcome {
            Ok(answer) => (BLUE, String::from_utf8_lossy(answer).into_owned()),
            Err(error) => (RED, error.clone()),
        };
        let what = self.paint(DIM, &format!("{} {}", entry.function, milliseconds(took)));
        print(&format!("{} {} {said} {what}", self.paint(colour, "cron"), entry.name));
    }

    pub(crate) fn goodbye(&self) {
        print(&self.paint(DIM, "\nEnded; nothing acknowledged is lost."));
    }
}

/// Whether a system is switched on.
fn is_deployed(stack: &Stack, system: &System) -> bool {
    let deployed = |name: &str| stack.functions.iter().any(|function| function.binary == name);
    system.functions().iter().any(|function| deployed(function.name))
}

/// What to try of the systems that run.
fn examples(running: &[System]) -> String {
    let mut text = "  A=\"Authorization: Bearer $SWITCHYARD_ADMIN_KEY\"\n".to_owned();
    for line in running.iter().flat_map(|system| system.example.lines()) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

fn milliseconds(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1000.0)
}

/// Functions log to a file beside the data, or nowhere.
pub(crate) fn log(folder: Option<&Path>) -> Result<Log, String> {
    let Some(folder) = folder else { return Ok(Log::new(|_| {})) };
    let path = folder.join("functions.log");
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let file = Mutex::new(file);
    Ok(Log::new(move |line| {
        if let Ok(mut file) = file.lock() {
            let _ = writeln!(file, "{line}");
        }
    }))
}

/// Writes a file that only its owner can read: it holds a key.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), String> {
    let at_path = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(at_path)?;
    file.write_all(text.as_bytes()).map_err(at_path)
}

/// `env` is for people's shells (not exported, so that `cargo test` there starts its own cloud); `functions.env` is what `cargo lambda watch` needs.
pub(crate) fn write_env(
    folder: &Path,
    url: &str,
    admin_key: &str,
    aws_url: Option<&str>,
    stack: &Stack,
) -> Result<(), String> {
    let write = |name: &str, text: String| write_private(&folder.join(name), &text);
    write("env", format!("SWITCHYARD_URL={url}\nSWITCHYARD_ADMIN_KEY={admin_key}\n"))?;
    let mut vars = lambda_environment();
    if let Some(aws_url) = aws_url {
        vars.insert("AWS_ENDPOINT_URL".to_owned(), aws_url.to_owned());
        vars.insert("AWS_ENDPOINT_URL_S3".to_owned(), aws_url.to_owned());
    }
    for function in &stack.functions {
        vars.extend(function.environment.clone());
    }
    let mut lines = String::new();
    for (name, value) in &vars {
        let _ = writeln!(lines, "{name}={value}");
    }
    write("functions.env", lines)
}
