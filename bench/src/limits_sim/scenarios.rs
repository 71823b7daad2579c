//! What is simulated.

use domain::limits::quota::{Algorithm, Quota};
use domain::limits::rule::OnFailure;
use simulation::limits::{LimitsPlan, Partition, Spread};

pub(super) const NODES: usize = 300;
const SEED: u64 = 20_261_117;

/// A plan and what to call it.
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) plan: LimitsPlan,
    pub(super) algorithm: &'static str,
    pub(super) traffic: &'static str,
}

const ALGORITHMS: [(Algorithm, &str); 3] = [
    (Algorithm::FixedWindow, "fixed window"),
    (Algorithm::SlidingWindow, "sliding window"),
    (Algorithm::TokenBucket, "token bucket"),
];

/// Demand below the limit and at twice the limit, spread evenly and by Zipf, with nodes that come
/// and go.
pub(super) fn accuracy() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for (algorithm, name) in ALGORITHMS {
        for limit in [100, 1_000, 10_000, 100_000, 1_000_000] {
            for (traffic, demand, over_nodes, life_ms) in [
                ("even, 80 %", 80, Spread::Uniform, 0),
                ("even, 200 %", 200, Spread::Uniform, 0),
                ("Zipf, churn, 80 %", 80, Spread::Zipf, 60_000),
                ("Zipf, churn, 200 %", 200, Spread::Zipf, 60_000),
            ] {
                let plan =
                    LimitsPlan { over_nodes, life_ms, ..plan(algorithm, limit, 10_000, demand) };
                scenarios.push(scenario(name, traffic, plan));
            }
        }
    }
    for (traffic, over_keys) in
        [("100 keys, even", Spread::Uniform), ("100 keys, Zipf", Spread::Zipf)]
    {
        let keyed = plan(Algorithm::SlidingWindow, 3_000, 10_000, 100);
        let plan = LimitsPlan { keys: 100, rate: 30_000, over_keys, life_ms: 60_000, ..keyed };
        scenarios.push(scenario("sliding window, many keys", traffic, plan));
    }
    scenarios
}

pub(super) fn hot() -> Vec<Scenario> {
    let quotas = [
        (Algorithm::SlidingWindow, "sliding window", 100_000, 1_000),
        (Algorithm::SlidingWindow, "sliding window", 400_000, 1_000),
        (Algorithm::SlidingWindow, "sliding window", 1_000_000, 10_000),
        (Algorithm::SlidingWindow, "sliding window", 1_000_000, 60_000),
        (Algorithm::FixedWindow, "fixed window", 1_000_000, 10_000),
        (Algorithm::TokenBucket, "token bucket", 100_000, 1_000),
        (Algorithm::TokenBucket, "token bucket", 1_000_000, 10_000),
        (Algorithm::SlidingLog, "sliding log", 100, 1_000),
    ];
    let hot = |(algorithm, name, limit, window_ms)| {
        let plan =
            LimitsPlan { rate: 500_000, run_ms: 20_000, ..plan(algorithm, limit, window_ms, 100) };
        scenario(name, "even", plan)
    };
    quotas.into_iter().map(hot).collect()
}

pub(super) fn partitions() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for (algorithm, name) in ALGORITHMS {
        for (traffic, percent, on_failure) in [
            ("30 % of nodes, closed", 30, OnFailure::Closed),
            ("all nodes, closed", 100, OnFailure::Closed),
            ("all nodes, open", 100, OnFailure::Open),
        ] {
            let partition = Partition { from_ms: 9_900, to_ms: 22_900, percent, on_failure };
            let keyed = LimitsPlan { keys: 5, ..plan(algorithm, 10_000, 10_000, 1_000) };
            let plan = LimitsPlan { partition: Some(partition), ..keyed };
            scenarios.push(scenario(name, traffic, plan));
        }
    }
    scenarios
}

/// Nodes that live 15 seconds, traffic by Zipf whose rate changes every second from nothing to double.
pub(super) fn rough() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for (algorithm, name) in ALGORITHMS {
        for limit in [1_000, 100_000, 1_000_000] {
            let plan = plan(algorithm, limit, 10_000, 200);
            let plan =
                LimitsPlan { over_nodes: Spread::Zipf, life_ms: 15_000, bursts: true, ..plan };
            scenarios.push(scenario(name, "Zipf, churn, bursts, 200 %", plan));
        }
    }
    scenarios
}

fn scenario(algorithm: &'static str, traffic: &'static str, plan: LimitsPlan) -> Scenario {
    let (limit, seconds) = (plan.quota.limit.unsigned_abs(), plan.quota.window_ms / 1_000);
    let limit = crate::table::grouped(limit);
    Scenario {
        name: format!("{algorithm}, {limit} in {seconds} s, {traffic}"),
        plan,
        algorithm,
        traffic,
    }
}

/// One key under `demand` percent of its quota, for four windows.
fn plan(algorithm: Algorithm, limit: i64, window_ms: i64, demand: i64) -> LimitsPlan {
    LimitsPlan {
        quota: Quota::new(algorithm, limit, window_ms),
        nodes: NODES,
        keys: 1,
        rate: limit * demand * 10 / window_ms,
        run_ms: 4 * window_ms,
        over_nodes: Spread::Uniform,
        over_keys: Spread::Uniform,
        bursts: false,
        life_ms: 0,
        partition: None,
        seed: SEED,
    }
}
