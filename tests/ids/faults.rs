//! Ids from many nodes with skewed, stepping and frozen clocks, while the store fails.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::SplitMix64;
use futures::future::join_all;
use http::Method;
use local::faults::{Fault, Faults};
use tests::{Lab, Response, Result, Setup, root_key};

use crate::faults::{run, sweep};

#[test]
fn seeds_hold() {
    sweep("ids", |seed| run(scenario(seed, Faults::seeded(seed, 60))));
}

pub(super) async fn scenario(seed: u64, faults: Arc<Faults>) -> Result<BTreeMap<Fault, u64>> {
    // Half of the runs have clocks that agree, so that nodes which share a shard would share an id.
    let skew_ms = if seed.is_multiple_of(2) { 0 } else { 5_000 };
    let lab = Lab::with(Setup { seed, faults, skew_ms, ..Setup::default() });
    let mut dice = SplitMix64::new(seed ^ 0x1d5);
    let mut given = BTreeSet::new();
    let mut served = 0;
    for _ in 0..4 {
        let nodes = 1 + dice.below(24);
        let ask = || lab.call(Method::POST, "/api/v1/ids?count=4").by(&root_key()).send();
        for answer in join_all((0..nodes).map(|_| ask())).await {
            served += u32::from(answer.status == 200);
            check(&answer, &mut given)?;
        }
        match dice.below(5) {
            0 => lab.clock.advance_ms(-i64::try_from(dice.below(8_000)).unwrap_or(0)),
            1 => lab.advance_seconds(3_600),
            2 => lab.cloud.functions.go_cold(),
            _ => lab.clock.advance_ms(i64::try_from(dice.below(400_000)).unwrap_or(0)),
        }
    }
    let counts = lab.cloud.faults.counts();
    lab.cloud.faults.stop();
    lab.advance_seconds(7_200);
    let ask = || lab.call(Method::POST, "/api/v1/ids").by(&root_key()).send();
    let last = ask().await;
    if last.status != 200 || served == 0 {
        return Err(format!("no ids once nothing goes wrong: {} {:?}", last.body, last.headers));
    }
    check(&last, &mut given)?;
    Ok(counts)
}

fn check(answer: &Response, seen: &mut BTreeSet<u64>) -> Result {
    let ids: Vec<u64> = answer.body["ids"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|id| id.as_str()?.parse().ok())
        .collect();
    if !ids.is_sorted_by(|a, b| a < b) {
        return Err(format!("out of order: {ids:?}"));
    }
    match ids.iter().find(|id| !seen.insert(**id)) {
        Some(id) => Err(format!("{id} was given out twice")),
        None => Ok(()),
    }
}
