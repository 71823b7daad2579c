//! Very many ids from many nodes with bad clocks: how long it took, and what went wrong.

use crate::table::{Table, Verdict, grouped};
use simulation::ids::{IdsPlan, IdsReport, simulate};
use std::time::Instant;

/// Simulates `ids` ids and holds the result against the bars.
pub(super) fn measure(ids: u64) -> Table {
    let started = Instant::now();
    // A tenth of a per cent of 10^9 ids is compared one by one; small runs are compared in full.
    let plan = IdsPlan {
        nodes: 2_000,
        ids,
        largest_request: 500,
        seed: 20_101_104,
        compare_one_in: (ids / 2_000_000).max(1),
    };
    let report = simulate(plan);
    let took = started.elapsed();
    let mut table = Table::new("Simulation: skewed, stepping and frozen clocks", "bar");
    table.row("ids", grouped(report.ids), &grouped(ids), Verdict::Correct(report.ids >= ids));
    history(&mut table, &report);
    table.row("took", format!("{:.1} s", took.as_secs_f64()), "", Verdict::Note);
    let at_once = report.most_nodes_at_once;
    let served = Verdict::Correct(at_once > 1_024);
    table.row("nodes served at once", grouped(at_once as u64), "> 1,024", served);
    let mut none = |what: &str, count: u64| {
        table.row(what, grouped(count), "0", Verdict::Correct(count == 0));
    };
    none("duplicates among those compared", report.repeated);
    none("overlapping leases", report.overlapping_leases);
    none("ids outside their lease", report.outside_lease);
    none("order violations on a node", report.out_of_order);
    table
}

fn history(table: &mut Table, report: &IdsReport) {
    let mut note = |what: &str, count: u64| {
        table.row(what, grouped(count), "", Verdict::Note);
    };
    note("ids compared one by one", report.compared);
    note("simulated seconds", report.simulated_ms / 1_000);
    note("leases taken", report.leases);
    note("leases renewed", report.renewals);
    note("claims that found a shard busy", report.busy);
    note("writes whose answer was lost", report.lost_answers);
    note("clock steps", report.clock_steps);
    note("freezes", report.freezes);
    note("nodes replaced", report.replaced);
    note("requests refused for the clock", report.refused);
}
