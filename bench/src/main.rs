//! Measures the numbers that the specifications state: `cargo run --release -p bench -- <system>`.
//!
//! Exits with 1 if a bar that correctness depends on is missed, and with 2 if it was not understood.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bench reads the real clock and prints what it finds"
)]

mod ids;
mod table;

use std::process::ExitCode;

const USAGE: &str = "\
Measures the numbers that the specifications state.

Usage: bench <system> [options]

Systems:
  ids [--sim N]   ids per second, the cap, and N simulated ids (1000000000 unless told)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let held = match words.as_slice() {
        ["ids"] => ids::run(1_000_000_000),
        ["ids", "--sim", count] => match count.replace('_', "").parse() {
            Ok(count) => ids::run(count),
            Err(_) => return usage(),
        },
        _ => return usage(),
    };
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage() -> ExitCode {
    println!("{USAGE}");
    ExitCode::from(2)
}
