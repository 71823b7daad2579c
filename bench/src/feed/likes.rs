//! Ten thousand likes a second on one post, simulated: how often each row is written to.

use simulation::feed::likes::{Likes, like};

use crate::table::{Table, Verdict, grouped};

const PER_SECOND: u32 = 10_000;
const SECONDS: u32 = 10;

pub(crate) fn measure() -> Table {
    let load = like(&Likes { per_second: PER_SECOND, seconds: SECONDS, doubled: 10, seed: 1 });
    let mut table = Table::new("10,000 likes a second on one post, one in ten sent twice", "bar");
    let wanted = u64::from(PER_SECOND) * u64::from(SECONDS);
    let exact = Verdict::Correct(load.counts.likes == wanted);
    table.row("likes counted", grouped(load.counts.likes), &grouped(wanted), exact);
    let units = u64::from(load.hottest_row);
    let cool = Verdict::Counted(units <= 1_000);
    table.row("units of the busiest row in a second", grouped(units), "≤ 1,000", cool);
    table.row("counters it is spread over", load.counters.to_string(), "", Verdict::Note);
    let folds = load.total_writes;
    table.row("writes of the post in a second, at worst", grouped(folds), "", Verdict::Note);
    let told = format!("{:.2} %", 100.0 * share(load.told, load.people));
    table.row("likes that are told", told, "", Verdict::Note);
    table
}

#[expect(clippy::cast_precision_loss, reason = "some hundred thousand")]
fn share(part: u64, of: u64) -> f64 {
    part as f64 / of.max(1) as f64
}
