//! A hundred simulated workers that share one provider, with a million of low priority waiting.

use simulation::notifications::{Plan, simulate};

use crate::table::{Table, Verdict, grouped};

pub(crate) fn measure() -> Table {
    let plan = Plan::full_size(1);
    let report = simulate(&plan);
    let rate = u64::from(plan.per_second);
    let mut table = Table::new(
        "100 workers, one provider of 1,000 a second, a simulated minute, 1,000,000 low waiting",
        "bar",
    );
    let [critical, normal, low] = report.sent.map(|sent| sent as u64);
    let sent = format!("{} · {} · {}", grouped(critical), grouped(normal), grouped(low));
    table.row("sent: critical (300/s come), normal (200/s), low", sent, "", Verdict::Note);
    let [critical_ms, normal_ms, _] = report.p99_ms;
    let waited = |ms: i64, bar: i64| (format!("{ms} ms"), format!("< {bar} s"), ms < bar * 1_000);
    for (what, ms, bar) in
        [("critical waits, p99", critical_ms, 5), ("normal waits, p99", normal_ms, 10)]
    {
        let (measured, said, kept) = waited(ms, bar);
        table.row(what, measured, &said, Verdict::Correct(kept));
    }
    let seconds = u64::try_from(plan.run_ms / 1_000).unwrap_or(1);
    let share = 100 * low / (rate * seconds);
    table.row(
        "low's part of the rate",
        format!("{share} %"),
        "≥ 10 %",
        Verdict::Correct(share >= 10),
    );
    let busiest = report.busiest as u64;
    let bar = "≤ 5 % over";
    table.row(
        "busiest second",
        grouped(busiest),
        bar,
        Verdict::Correct(busiest * 100 <= rate * 105),
    );
    let writes =
        format!("{} for {}", grouped(report.writes as u64), grouped(critical + normal + low));
    table.row("writes of the provider's row", writes, "", Verdict::Note);
    table
}
