//! What a node keeps in memory, however many callers there are: the kernel's count of a process that
//! does nothing else.

use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::cold::build_example;
use crate::table::{Table, Verdict, grouped};

/// Mode, what it is, callers, MB at most. Rows with many shards and full logs are copied about, so
/// fewer of them take as long; all are many times as many as there is room for.
const CASES: [(&str, &str, u64, f64); 3] = [
    ("keys", "rules with one row", 10_000_000, 8.0),
    ("shards", "rules with 32 shards", 2_000_000, 24.0),
    ("logs", "rules with full logs of 500", 200_000, 48.0),
];

/// Pages that an allocator takes anew for the same use: not growth.
const SLACK: f64 = 1.05;

pub(crate) fn measure() -> Result<Table> {
    let program = build_example("bench", "limits-memory")?;
    let mut table = Table::new("Memory of a node, MB resident at the peak", "bar");
    for (mode, what, keys, most) in CASES {
        let [before, early, peak] = filled(&program, mode, keys)?;
        let what = format!("{} random callers, {what}", grouped(keys));
        let kept = peak - before;
        let verdict = Verdict::Counted(kept <= most);
        table.row(&what, format!("{kept:.1}"), &format!("≤ {most:.0}"), verdict);
        let verdict = Verdict::Counted(peak <= early * SLACK);
        table.row(
            "  grown after the first tenth",
            format!("{:.1}", peak - early),
            "≤ 5 %",
            verdict,
        );
    }
    Ok(table)
}

/// MB before, early, and at the end.
pub(crate) fn filled(program: &Path, mode: &str, count: u64) -> Result<[f64; 3]> {
    let output = Command::new(program).args([mode, &count.to_string()]).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let said = String::from_utf8(output.stdout)?;
    let numbers: Vec<f64> = said.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let kib: [f64; 3] = numbers.try_into().map_err(|_| "it printed other than three numbers")?;
    Ok(kib.map(|kib| kib * 1_024.0 / 1e6))
}
