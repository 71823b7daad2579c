//! What following a link costs in process, beside a function that does nothing.
//!
//! From the event's JSON to the answer's; what the runtime and the kernel add is in `bench cold
//! redirect`. Instructions and store calls are counted; CPU time is this machine's.

use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::cold::{build_example, instructions};
use crate::table::{Table, Verdict, grouped};

const HIT_AT_MOST: u64 = 200_000;
const MISS_AT_MOST: u64 = 600_000;
const HIT_NANOSECONDS_AT_MOST: u64 = 30_000;

pub(crate) fn measure() -> Result<Table> {
    let ours = build_example("links", "redirect-path")?;
    let empty = build_example("bench", "empty-path")?;
    let mut table = Table::new("Following a link, in process", "bar");
    count(&ours, &empty, &mut table)?;

    let (hit, asked) = cpu_each(&ours, &["hit", "300000"])?;
    let verdict = Verdict::Speed(hit <= HIT_NANOSECONDS_AT_MOST);
    table.row("CPU, ns here, a hit", grouped(hit), "≤ 30,000", verdict);
    let verdict = Verdict::Counted(asked == Some(0));
    table.row("store calls in 300,000 hits", shown(asked), "0", verdict);
    let (miss, asked) = cpu_each(&ours, &["miss", "20000"])?;
    table.row("CPU, ns here, a miss without its network", grouped(miss), "", Verdict::Note);
    let verdict = Verdict::Counted(asked == Some(20_000));
    table.row("store calls in 20,000 misses", shown(asked), "20,000", verdict);
    let (nothing, _) = cpu_each(&empty, &["300000"])?;
    let what = "CPU, ns here, an empty lambda_http function";
    table.row(what, grouped(nothing), "", Verdict::Note);
    Ok(table)
}

fn count(ours: &Path, empty: &Path, table: &mut Table) -> Result {
    if !crate::cold::has_valgrind() {
        table.row("instructions", "valgrind is missing".to_owned(), "", Verdict::Note);
        return Ok(());
    }
    let hit = instructions_each(ours, &["hit"], 1_000)?;
    let verdict = Verdict::Counted(hit <= HIT_AT_MOST);
    table.row("instructions, a hit", grouped(hit), "≤ 200,000", verdict);
    let miss = instructions_each(ours, &["miss"], 200)?;
    let verdict = Verdict::Counted(miss <= MISS_AT_MOST);
    table.row("instructions, a miss", grouped(miss), "≤ 600,000", verdict);
    let nothing = instructions_each(empty, &[], 1_000)?;
    let what = "instructions, an empty lambda_http function";
    table.row(what, grouped(nothing), "", Verdict::Note);
    Ok(())
}

/// What one more request takes is the difference between two runs.
pub(crate) fn instructions_each(binary: &Path, mode: &[&str], count: u64) -> Result<u64> {
    let run = |count: u64| instructions(binary, &[mode, &[&count.to_string()]].concat());
    let (few, many) = (run(count)?, run(2 * count)?);
    Ok(many.saturating_sub(few) / count)
}

/// Nanoseconds a request, and the store calls of all of them if the program counts any.
pub(crate) fn cpu_each(binary: &Path, arguments: &[&str]) -> Result<(u64, Option<u64>)> {
    let output = Command::new(binary).args(arguments).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let mut numbers = text.split_whitespace();
    let nanoseconds = numbers.next().ok_or("it printed nothing")?.parse()?;
    Ok((nanoseconds, numbers.next().map(str::parse).transpose()?))
}

fn shown(count: Option<u64>) -> String {
    count.map_or_else(|| "not counted".to_owned(), grouped)
}
