//! The count behind a set of registers: Ertl's improved raw estimator.
//!
//! Otmar Ertl, "New cardinality estimation algorithms for `HyperLogLog`
//! sketches" (2017), algorithm 6.
//! It needs no table of biases and no switch between methods: the terms for registers that saw
//! nothing (`sigma`) and for those that cannot rise any more (`tau`) correct both ends of the range.

use super::MAX_RANK;

const TOP: usize = MAX_RANK as usize;

pub(super) fn estimate(registers: &[u8]) -> u64 {
    let mut counts = [0_u32; TOP + 1];
    for &rank in registers {
        counts[usize::from(rank)] += 1;
    }
    let counts = counts.map(f64::from);
    let size = counts.iter().sum::<f64>();
    let top = size * tau(1.0 - counts[TOP] / size);
    let inner = counts[1..TOP].iter().rev().fold(top, |sum, count| 0.5 * (sum + count));
    let sum = inner + size * sigma(counts[0] / size);
    rounded(size * size / (2.0 * std::f64::consts::LN_2 * sum))
}

/// x + Σ x^(2^k) · 2^(k−1), which is infinite for 1: every register is empty.
fn sigma(mut x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut sum, mut weight) = (x, 1.0);
    loop {
        x *= x;
        let next = sum + x * weight;
        if next <= sum {
            return sum;
        }
        (sum, weight) = (next, weight * 2.0);
    }
}

/// (1 − x − Σ (1 − x^(2^−k))² · 2^−k) ÷ 3.
fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut sum, mut weight) = (1.0 - x, 1.0);
    loop {
        x = x.sqrt();
        weight *= 0.5;
        let next = sum - (1.0 - x).powi(2) * weight;
        if next >= sum {
            return sum / 3.0;
        }
        sum = next;
    }
}

/// The nearest whole number; the greatest there is if every register is full.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "estimates are not negative, and one past the greatest number becomes that number"
)]
fn rounded(estimate: f64) -> u64 {
    estimate.round() as u64
}

#[cfg(test)]
mod tests {
    use super::super::REGISTERS;
    use super::*;

    #[test]
    fn both_ends_of_the_range_are_defined() {
        assert_eq!(estimate(&[0; REGISTERS]), 0);
        assert_eq!(estimate(&[MAX_RANK; REGISTERS]), u64::MAX);
    }

    #[test]
    fn few_registers_count_as_in_linear_counting() {
        let mut registers = [0; REGISTERS];
        registers[..3].fill(1);
        assert_eq!(estimate(&registers), 3);
    }

    #[test]
    fn one_rank_more_everywhere_is_twice_as_many() {
        for rank in 8..40 {
            let (once, twice) = (estimate(&[rank; REGISTERS]), estimate(&[rank + 1; REGISTERS]));
            assert!(once.abs_diff(twice / 2) <= 1, "{rank}: {once} {twice}");
        }
    }
}
