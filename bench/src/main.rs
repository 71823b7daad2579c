//! Measures the numbers that the specifications state: `cargo run --release -p bench -- <system>`.
//!
//! Exits with 1 if a bar that must hold on any machine is missed, and with 2 if the command line is wrong.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bench reads the real clock and prints what it finds"
)]

mod cold;
mod feed;
mod ids;
mod jobs;
mod limits;
mod limits_sim;
mod links;
mod notifications;
mod operation_meter;
mod table;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// A bench that cannot go on says why and ends: nothing asks what kind of error it was.
pub(crate) type Result<T = (), E = Box<dyn Error>> = std::result::Result<T, E>;

/// Runs `work` on this thread alone.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

const USAGE: &str = "\
Measures the numbers that the specifications state.

Usage: bench <system> [options]

Systems:
  ids [--sim N]   ids per second, the cap, and N simulated ids (1000000000 by default)
  cold every [folder] [folder of a baseline]
                  every function's zip and first answer; of target/lambda by default
  cold [function] [--invokes N]
                  size, instructions and memory of a release binary (ids, 20 warm invocations)
  links [process|load|calls]
                  a redirect in process, under load, and what each operation calls and costs
  jobs [calls|load]
                  what each operation calls and costs; submitting and reading with 100,000 stored
  notifications [calls|load|fairness]
                  what each operation calls and costs; accepting and delivering; a shared provider
  feed [calls|load|crowd|likes]
                  what each operation calls and costs; reading, writing and fanning out; likes
  limits [decision|path|memory|firewall|calls]
                  a decision beside other limiters, memory, the firewall, calls and costs
  limits-sim      how exact 300 simulated nodes are together; draws docs/limits-accuracy.svg";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let passed = match words.as_slice() {
        ["ids"] => ids::run(1_000_000_000),
        ["ids", "--sim", count] => match count.replace('_', "").parse() {
            Ok(count) => ids::run(count),
            Err(_) => return usage(),
        },
        ["cold", "every"] => cold::all_functions::run(Path::new("target/lambda"), None),
        ["cold", "every", built] => cold::all_functions::run(Path::new(built), None),
        ["cold", "every", built, baseline] => {
            cold::all_functions::run(Path::new(built), Some(Path::new(baseline)))
        }
        ["cold", rest @ ..] => match cold_options(rest) {
            Some((function, invokes)) => cold::run(function, invokes),
            None => return usage(),
        },
        ["limits-sim"] => limits_sim::run(),
        [system, part @ ..] if part.len() < 2 => {
            match table::run(system, parts_of(system), part.first().copied()) {
                Some(passed) => passed,
                None => return usage(),
            }
        }
        _ => return usage(),
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parts_of(system: &str) -> &'static [table::Part] {
    match system {
        "feed" => feed::PARTS,
        "jobs" => jobs::PARTS,
        "limits" => limits::PARTS,
        "links" => links::PARTS,
        "notifications" => notifications::PARTS,
        _ => &[],
    }
}

/// The function to start cold, and how often it is called after its first answer.
fn cold_options<'a>(words: &[&'a str]) -> Option<(&'a str, usize)> {
    let (function, options) = match words {
        [function, options @ ..] if !function.starts_with('-') => (*function, options),
        options => ("ids", options),
    };
    match options {
        [] => Some((function, 20)),
        ["--invokes", count] => Some((function, count.parse().ok().filter(|&count| count > 0)?)),
        _ => None,
    }
}

fn usage() -> ExitCode {
    println!("{USAGE}");
    ExitCode::from(2)
}
