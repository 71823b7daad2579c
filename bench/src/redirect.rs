//! What following a link costs: instructions by callgrind, CPU time by the clock.
//!
//! Both are of the handler alone, from the event's JSON to the answer's; what the runtime and the
//! kernel add is in `bench cold redirect`. Instructions have bars; time is this machine's.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use crate::cold::{build_example, instructions};
use crate::table::{Table, Verdict, grouped};

const HIT_AT_MOST: u64 = 200_000;
const MISS_AT_MOST: u64 = 600_000;
const HIT_NANOSECONDS_AT_MOST: u64 = 30_000;

/// Measures and says whether every bar was cleared.
pub(crate) fn run() -> bool {
    match measure() {
        Ok(table) => table.print(),
        Err(error) => {
            println!("Measuring redirects failed: {error}");
            false
        }
    }
}

fn measure() -> Result<Table, Box<dyn Error>> {
    let binary = build_example("redirect", "redirect-path")?;
    let mut table = Table::new("Following a link, in process", "bar");
    for (mode, count, most, bar) in
        [("hit", 1_000, HIT_AT_MOST, "≤ 200,000"), ("miss", 200, MISS_AT_MOST, "≤ 600,000")]
    {
        let each = each(&binary, mode, count)?;
        let verdict = Verdict::Counted(each <= most);
        table.row(&format!("instructions, a {mode}"), grouped(each), bar, verdict);
    }
    let hit = nanoseconds(&binary, "hit", "300000")?;
    let verdict = Verdict::Counted(hit <= HIT_NANOSECONDS_AT_MOST);
    table.row("nanoseconds here, a hit", grouped(hit), "≤ 30,000", verdict);
    let miss = nanoseconds(&binary, "miss", "20000")?;
    table.row("nanoseconds here, a miss, without its network", grouped(miss), "", Verdict::Note);
    Ok(table)
}

/// What one more request takes is the difference between two runs.
fn each(binary: &Path, mode: &str, count: u64) -> Result<u64, Box<dyn Error>> {
    let few = instructions(binary, &[mode, &count.to_string()])?;
    let many = instructions(binary, &[mode, &(2 * count).to_string()])?;
    Ok(many.saturating_sub(few) / count)
}

fn nanoseconds(binary: &Path, mode: &str, count: &str) -> Result<u64, Box<dyn Error>> {
    let output = Command::new(binary).args([mode, count]).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
