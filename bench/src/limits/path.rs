//! All that a request passes in a function, without its network: the gate of a redirect that no rule
//! is for, and a request that one rule or five apply to.
//!
//! Instructions and store calls are counted; CPU time is this machine's.

use crate::Result;
use crate::cold::{build_example, has_valgrind};
use crate::links::{cpu_each, instructions_each};
use crate::table::{Table, Verdict, grouped};

/// What limits may add to a redirect that is answered from memory.
const GATE_AT_MOST: u64 = 2_000;

pub(crate) fn measure() -> Result<Table> {
    let program = build_example("boundary", "admit-path")?;
    let mut table = Table::new("Passing the limiter, in process", "bar");
    for (mode, what) in [
        ("gate", "a redirect that no rule is for"),
        ("one", "admitted, 1 rule applies"),
        ("five", "admitted, 5 rules apply"),
    ] {
        if has_valgrind() {
            let instructions = instructions_each(&program, &[mode], 2_000)?;
            let (bar, verdict) = match mode {
                "gate" => ("≤ 2,000", Verdict::Counted(instructions <= GATE_AT_MOST)),
                _ => ("", Verdict::Note),
            };
            table.row(&format!("instructions, {what}"), grouped(instructions), bar, verdict);
        }
        let (nanoseconds, asked) = cpu_each(&program, &[mode, "300000"])?;
        table.row(&format!("CPU, ns here, {what}"), grouped(nanoseconds), "", Verdict::Note);
        let verdict = Verdict::Counted(asked == Some(0));
        let asked = asked.map_or_else(|| "not counted".to_owned(), grouped);
        table.row("  store calls in 300,000", asked, "0", verdict);
    }
    Ok(table)
}
