//! How long one decision takes: the median of batches, and the 99th percentile of single calls.
//!
//! A clock reading costs a good part of a decision. So the median is that of whole batches divided by
//! their size, and from single calls, which show what is rare, the median of two readings with nothing
//! between them is subtracted. All that are compared take turns within one run, because this machine
//! is faster in one minute than in the next.

use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// How often each takes its turn.
const TURNS: usize = 15;

/// How long a turn's batches and single calls last, about.
const TURN: Duration = Duration::from_millis(12);

/// How long warming up lasts at most: every key twice, if that is quick enough.
const WARM_UP_REQUESTS: usize = 20_000;
const WARM_UP: Duration = Duration::from_secs(3);

/// Decisions in a batch at most, and how long one lasts at most: in a long one this thread would often
/// have to wait for another.
const BATCH: usize = 256;
const SHORT: Duration = Duration::from_micros(60);

/// Something that decides: it is told the number of the request.
pub(crate) struct Contestant<'a> {
    pub(crate) what: String,
    pub(crate) decide: Box<dyn FnMut(usize) + 'a>,
}

impl<'a> Contestant<'a> {
    pub(crate) fn new(what: impl Into<String>, decide: impl FnMut(usize) + 'a) -> Self {
        Self { what: what.into(), decide: Box::new(decide) }
    }
}

/// What one decision took, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Latency {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} · {}", shown(self.p50), shown(self.p99))
    }
}

/// Nanoseconds, or microseconds where there are many.
pub(crate) fn shown(ns: f64) -> String {
    if ns < 10_000.0 { format!("{ns:.0} ns") } else { format!("{:.0} µs", ns / 1e3) }
}

/// Lets them take turns and says what a decision of each took.
pub(crate) fn race(contestants: &mut [Contestant<'_>]) -> Vec<Latency> {
    let mut samples: Vec<Samples> = contestants.iter_mut().map(Samples::warmed_up).collect();
    for _ in 0..TURNS {
        for (contestant, samples) in contestants.iter_mut().zip(&mut samples) {
            samples.turn(&mut contestant.decide);
        }
    }
    samples.into_iter().map(Samples::latency).collect()
}

/// What a clock reading adds to a single call.
pub(crate) fn reading_ns() -> f64 {
    let mut readings: Vec<f64> = (0..100_000).map(|_| nanoseconds(Instant::now())).collect();
    percentile(&mut readings, 50)
}

struct Samples {
    batch: usize,
    batches: Vec<f64>,
    singles: Vec<f64>,
    request: usize,
}

impl Samples {
    /// Often enough that what is made on a key's first use is there, unless that takes too long.
    fn warmed_up(contestant: &mut Contestant<'_>) -> Self {
        let (started, mut request) = (Instant::now(), 0);
        while request < WARM_UP_REQUESTS && started.elapsed() < WARM_UP {
            (contestant.decide)(request);
            request += 1;
        }
        let each = (0..16).map(|_| {
            let started = Instant::now();
            (contestant.decide)(request);
            started.elapsed().as_nanos().max(1)
        });
        let fitting = SHORT.as_nanos() / each.min().unwrap_or(1);
        let batch = usize::try_from(fitting).unwrap_or(BATCH).clamp(1, BATCH);
        Self { batch, batches: Vec::new(), singles: Vec::new(), request }
    }

    #[expect(clippy::cast_precision_loss, reason = "a batch is small")]
    fn turn(&mut self, decide: &mut dyn FnMut(usize)) {
        let began = Instant::now();
        while began.elapsed() < TURN {
            let started = Instant::now();
            for request in self.request..self.request + self.batch {
                decide(black_box(request));
            }
            self.batches.push(nanoseconds(started) / self.batch as f64);
            self.request += self.batch;
        }
        let began = Instant::now();
        while began.elapsed() < TURN {
            // Asking every time whether the turn is over would be half of the work.
            for _ in 0..self.batch {
                let started = Instant::now();
                decide(black_box(self.request));
                self.singles.push(nanoseconds(started));
                self.request += 1;
            }
        }
    }

    fn latency(mut self) -> Latency {
        let single = percentile(&mut self.singles, 99) - reading_ns();
        let p50 = percentile(&mut self.batches, 50);
        Latency { p50, p99: single.max(p50) }
    }
}

fn nanoseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e9
}

/// The value that so many in a hundred are at or under.
fn percentile(values: &mut [f64], percent: usize) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    values.sort_by(f64::total_cmp);
    values[(values.len() * percent / 100).min(values.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_has_as_many_values_at_or_under_it() {
        let mut values: Vec<f64> = (0..1_000_u32).rev().map(f64::from).collect();
        assert_eq!((percentile(&mut values, 50), percentile(&mut values, 99)), (500.0, 990.0));
        assert_eq!((percentile(&mut [7.0], 99), percentile(&mut [], 99)), (7.0, 0.0));
    }
}
