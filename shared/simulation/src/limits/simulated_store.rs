//! What nodes share: the rows, and the way to them.

use std::collections::HashMap;

use super::{LimitsPlan, Partition, START_MS};
use domain::limits::counter::{CounterRow, CounterWrite};
use domain::limits::ledger::DebitOutcome;

pub(super) struct SimulatedStore {
    rows: HashMap<(usize, u8), Stored>,
    partition: Option<Partition>,
    now_ms: i64,
    pub(super) writes: i64,
    pub(super) refused: i64,
    pub(super) busiest: i64,
    pub(super) start: i64,
}

#[derive(Default)]
struct Stored {
    row: Option<CounterRow>,
    /// The second in which calls were last counted, and how many there were.
    second: i64,
    calls: i64,
}

impl SimulatedStore {
    pub(super) fn new(plan: &LimitsPlan) -> Self {
        let partition = plan.partition;
        Self {
            rows: HashMap::new(),
            partition,
            now_ms: START_MS,
            writes: 0,
            refused: 0,
            busiest: 0,
            start: 0,
        }
    }

    pub(super) fn pass(&mut self, now_ms: i64) {
        self.now_ms = now_ms;
    }

    pub(super) fn is_partitioned(&self) -> bool {
        let passed = self.now_ms - START_MS;
        self.partition.is_some_and(|it| (it.from_ms..it.to_ms).contains(&passed))
    }

    /// Whether a node can't reach the store now.
    pub(super) fn is_cut_off(&self, partition_key: u64) -> bool {
        self.is_partitioned() && self.partition.is_some_and(|it| partition_key % 100 < it.percent)
    }

    /// Does what the store does with a write.
    pub(super) fn write(&mut self, key: usize, shard: u8, write: &CounterWrite) -> DebitOutcome {
        let stored = self.rows.entry((key, shard)).or_default();
        let second = self.now_ms.div_euclid(1_000);
        stored.calls = if stored.second == second { stored.calls + 1 } else { 1 };
        stored.second = second;
        if self.now_ms - START_MS >= 1_000 {
            self.busiest = self.busiest.max(stored.calls);
        } else {
            self.start = self.start.max(stored.calls);
        }
        self.writes += 1;
        if let Some(row) = CounterRow::apply(stored.row.as_ref(), write) {
            stored.row = Some(row.clone());
            DebitOutcome::Committed(row)
        } else {
            self.refused += 1;
            DebitOutcome::ConditionFailed(stored.row.clone())
        }
    }
}
