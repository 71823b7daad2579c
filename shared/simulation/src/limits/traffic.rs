//! Who asks for what, when.

use super::{LimitsPlan, START_MS, Spread};
use domain::SplitMix64;

pub(super) struct Traffic {
    rate: i64,
    bursts: bool,
    nodes: WeightedChoice,
    keys: WeightedChoice,
    /// This second's rate, and thousandths of a request that are still to come.
    current: i64,
    rest: i64,
}

/// Numbers drawn with their shares.
struct WeightedChoice {
    /// The sum of the shares up to each number.
    sums: Vec<u64>,
    /// The numbers in another order, so that the heavy ones are not neighbours.
    order: Vec<usize>,
}

impl Traffic {
    pub(super) fn new(plan: &LimitsPlan, random: &mut SplitMix64) -> Self {
        Self {
            rate: plan.rate,
            bursts: plan.bursts,
            nodes: WeightedChoice::new(plan.nodes, plan.over_nodes, random),
            keys: WeightedChoice::new(plan.keys, plan.over_keys, random),
            current: plan.rate,
            rest: 0,
        }
    }

    /// How many requests come in this millisecond.
    pub(super) fn count(&mut self, now_ms: i64, random: &mut SplitMix64) -> i64 {
        if self.bursts && (now_ms - START_MS) % 1_000 == 0 {
            self.current = self.rate * i64::try_from(random.below(3_001)).unwrap_or(0) / 1_500;
        }
        // On average as many as the rate says, and up to twice as many at a time.
        let jitter = i64::try_from(random.below(2_001)).unwrap_or(0);
        self.rest += self.current * jitter / 1_000;
        let count = self.rest / 1_000;
        self.rest %= 1_000;
        count
    }

    /// The node and the key of a request.
    pub(super) fn next(&self, random: &mut SplitMix64) -> (usize, usize) {
        (self.nodes.draw(random), self.keys.draw(random))
    }
}

impl WeightedChoice {
    fn new(count: usize, spread: Spread, random: &mut SplitMix64) -> Self {
        let mut sum = 0;
        let share = |number: usize| match spread {
            Spread::Uniform => 1_000_000,
            Spread::Zipf => 1_000_000_000 / (number as u64 + 1),
        };
        let sums = (0..count).map(|number| {
            sum += share(number);
            sum
        });
        let mut order: Vec<usize> = (0..count).collect();
        let sums = sums.collect();
        for last in (1..count).rev() {
            let other = usize::try_from(random.below(last as u64 + 1)).unwrap_or(0);
            order.swap(last, other);
        }
        Self { sums, order }
    }

    fn draw(&self, random: &mut SplitMix64) -> usize {
        let Some(&all) = self.sums.last() else { return 0 };
        let drawn = random.below(all);
        self.order[self.sums.partition_point(|sum| *sum <= drawn)]
    }
}
