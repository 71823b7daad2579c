//! What is made of what was noted.

/// What 99 of 100 waits are less than: milliseconds.
pub(super) fn p99_ms(mut waits_us: Vec<i64>) -> i64 {
    waits_us.sort_unstable();
    let at = waits_us.len().saturating_sub(1) * 99 / 100;
    waits_us.get(at).map_or(0, |us| us / 1_000)
}

/// The most of some moments that lie within one second.
pub(super) fn busiest(mut sends_us: Vec<i64>) -> usize {
    sends_us.sort_unstable();
    let mut first = 0;
    let mut most = 0;
    for (index, at_us) in sends_us.iter().enumerate() {
        while sends_us[first] + 1_000_000 <= *at_us {
            first += 1;
        }
        most = most.max(index - first + 1);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the auditor is for: it has to notice a second with one too many.
    #[test]
    fn the_auditor_counts_sliding_seconds() {
        assert_eq!(busiest(vec![1_000_000, 0, 500_000, 1_499_999, 999_999]), 4);
        assert_eq!(busiest(vec![]), 0);
        assert_eq!(p99_ms((1..=1_000).map(|ms| ms * 1_000).collect()), 990);
        assert_eq!(p99_ms(vec![]), 0);
    }
}
