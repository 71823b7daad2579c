//! Hundreds of nodes over shared counters, on a virtual clock: how exact they are together, and
//! what a counter's row has to take. Prints the tables and draws the first one into
//! `docs/limits-accuracy.svg`.

mod drawing;
mod scenarios;

use std::path::Path;
use std::time::Instant;

use domain::limits::rule::OnFailure;
use simulation::limits::{LimitsPlan, LimitsReport, simulate};

use crate::table::{Table, Verdict, grouped};
use scenarios::{NODES, Scenario};

const UNDER_AT_MOST: i64 = 50;
const WRITES_AT_MOST: i64 = 500;

/// Runs every scenario and says whether every bar was cleared.
pub(crate) fn run() -> bool {
    let began = Instant::now();
    println!(
        "{NODES} nodes, a call to the store takes 2 to 6 ms. `over`: units admitted beyond the \
         quota at the\nworst moment. `under`: less than one counter without any delay would have \
         admitted.\n"
    );
    let accuracy = run_all(scenarios::accuracy());
    let mut held = accuracy_table(&accuracy).print();
    held &= hot_table(&run_all(scenarios::hot())).print();
    held &= partition_table(&run_all(scenarios::partitions())).print();
    held &= rough_table(&run_all(scenarios::rough())).print();
    match drawing::draw(&accuracy, Path::new("docs/limits-accuracy.svg")) {
        Ok(()) => println!("Drawn into docs/limits-accuracy.svg."),
        Err(error) => {
            println!("docs/limits-accuracy.svg could not be written: {error}");
            held = false;
        }
    }
    println!("Took {:.0} s.", began.elapsed().as_secs_f64());
    held
}

fn run_all(scenarios: Vec<Scenario>) -> Vec<(Scenario, LimitsReport)> {
    let run = |scenario: Scenario| {
        let report = simulate(&scenario.plan);
        (scenario, report)
    };
    scenarios.into_iter().map(run).collect()
}

fn accuracy_table(results: &[(Scenario, LimitsReport)]) -> Table {
    let mut table = Table::new("Accuracy: admitted · over · under · calls/1,000", "over, under");
    for (scenario, report) in results {
        let measured = format!(
            "{} · {} · {} · {}",
            grouped(report.admitted.unsigned_abs()),
            report.over,
            percent(report.under_thousandths()),
            per_thousand(report),
        );
        let held = report.over == 0 && report.under_thousandths() <= UNDER_AT_MOST;
        table.row(&scenario.name, measured, "0, ≤ 5 %", Verdict::Correct(held));
    }
    table
}

fn hot_table(results: &[(Scenario, LimitsReport)]) -> Table {
    let what = "A key at 500,000 requests/s: writes/s to a row · over · under";
    let mut table = Table::new(what, "bar");
    for (scenario, report) in results {
        let measured = format!(
            "{} · {} · {}",
            report.busiest,
            report.over,
            percent(report.under_thousandths())
        );
        let held = report.busiest <= WRITES_AT_MOST && report.over == 0;
        table.row(&scenario.name, measured, "≤ 500, 0", Verdict::Correct(held));
    }
    let start = results.iter().map(|(_, report)| report.start).max().unwrap_or(0);
    let what = format!("the most in the first second, when {NODES} nodes begin at once");
    table.row(&what, start.to_string(), "", Verdict::Note);
    table
}

fn partition_table(results: &[(Scenario, LimitsReport)]) -> Table {
    let what = "Store out of reach for 13 s: over · leases spent late · let pass openly · refused";
    let mut table = Table::new(what, "bar");
    for (scenario, report) in results {
        let LimitsReport { over, frozen, open, closed, unspent, .. } = *report;
        let closes = is_closed(&scenario.plan);
        let bound = if closes { "over ≤ late ≤ leased" } else { "over ≤ late + open" };
        let held = over <= frozen + open && frozen <= unspent && (open == 0 || !closes);
        let measured = format!("{over} · {frozen} · {open} · {closed}");
        table.row(&scenario.name, measured, bound, Verdict::Correct(held));
    }
    table
}

/// Worse than what was promised for; nothing may be admitted too much here either.
fn rough_table(results: &[(Scenario, LimitsReport)]) -> Table {
    let what = "Everything at once: over · under · nodes ended · writes/s to a row";
    let mut table = Table::new(what, "over");
    for (scenario, report) in results {
        let measured = format!(
            "{} · {} · {} · {}",
            report.over,
            percent(report.under_thousandths()),
            report.ended,
            report.busiest
        );
        table.row(&scenario.name, measured, "0", Verdict::Correct(report.over == 0));
    }
    table
}

fn is_closed(plan: &LimitsPlan) -> bool {
    plan.partition.is_some_and(|partition| partition.on_failure == OnFailure::Closed)
}

fn percent(thousandths: i64) -> String {
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

/// Calls to the store for a thousand requests.
fn per_thousand(report: &LimitsReport) -> i64 {
    report.writes * 1_000 / report.asked.max(1)
}
