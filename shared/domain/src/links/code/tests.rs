//! Codes are unique, unguessable and presentable.

use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

const KEY: CodeKey = CodeKey::from_bytes([7; 32]);

/// The number behind a code that was made here.
fn number_of(key: &CodeKey, code: &Code) -> Option<u64> {
    let space = CODE_SPACES.iter().find(|space| usize::from(space.length) == code.0.len())?;
    let place = code.0.bytes().try_fold(0, |place, byte| {
        let digit = ALPHABET.iter().position(|&known| known == byte)?;
        Some(place * 57 + u64::try_from(digit).ok()?)
    })?;
    Some(space.first + space.permutation(key).invert(place))
}

/// A number's code, profane or not.
fn spelled(key: &CodeKey, number: u64) -> String {
    let (space, place) = permuted(key, number).unwrap();
    space.to_base57(place)
}

fn distance(a: &str, b: &str) -> u32 {
    a.bytes().zip(b.bytes()).map(|(a, b)| u32::from(a != b)).sum()
}

#[test]
fn codes_that_were_given_out_stay_what_they_are() {
    let given_out = [
        (0, "gnRLHC5"),
        (1, "MBFAdsS"),
        (SEVEN_CHARACTER_CODES - 1, "QeFRoqS"),
        (SEVEN_CHARACTER_CODES, "DUtYGPaE"),
        (ALL_CODES - 1, "HeFAP84e"),
    ];
    for (number, text) in given_out {
        assert_eq!(spelled(&KEY, number), text, "{number}");
    }
}

#[test]
fn numbers_below_57_to_the_7th_have_seven_characters_and_the_rest_eight() {
    for (number, length) in
        [(0, 7), (SEVEN_CHARACTER_CODES - 1, 7), (SEVEN_CHARACTER_CODES, 8), (ALL_CODES - 1, 8)]
    {
        assert_eq!(spelled(&KEY, number).len(), length, "{number}");
    }
    for number in [ALL_CODES, ALL_CODES + 1, u64::MAX] {
        assert_eq!(code_for(&KEY, number), None);
    }
}

#[test]
fn a_small_space_of_any_size_is_permuted_without_gaps() {
    for size in (1..=130).chain([57 * 57, 4_096, 4_097]) {
        let permutation = Permutation::new(&KEY, 7, size);
        let mut places: Vec<u64> = (0..size).map(|number| permutation.permute(number)).collect();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..size), "{size}");
    }
}

/// A sample of what the inverse and the small spaces prove, but with the real key schedule and across
/// both lengths. Each number costs some 24 hashes, which an unoptimized build is slow at.
#[test]
fn consecutive_numbers_on_both_sides_of_the_change_of_length_share_no_code() {
    const HALF: u64 = 50_000;
    let codes: HashSet<_> = (SEVEN_CHARACTER_CODES - HALF..SEVEN_CHARACTER_CODES + HALF)
        .map(|number| permuted(&KEY, number).map(|(space, place)| (space.length, place)))
        .collect();
    assert_eq!(codes.len() as u64, 2 * HALF);
    assert!(!codes.contains(&None));
}

#[test]
fn every_character_is_as_likely_as_any_other_in_every_position() {
    const CODES: u32 = 20_000;
    for first in [0, SEVEN_CHARACTER_CODES] {
        let codes: Vec<_> =
            (first..first + u64::from(CODES)).map(|number| spelled(&KEY, number)).collect();
        for position in 0..codes[0].len() {
            let mut counts = [0_u32; 128];
            for code in &codes {
                counts[usize::from(code.as_bytes()[position])] += 1;
            }
            let expected = f64::from(CODES) / 57.0;
            let counts = ALPHABET.map(|character| counts[usize::from(character)]);
            assert!(counts.iter().all(|&count| count > 0), "{first} {position}");
            assert_eq!(counts.iter().sum::<u32>(), CODES);
            let chi_square: f64 =
                counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
            // With 56 degrees of freedom one in a million exceeds 116, and one falls below 21.
            assert!((21.0..116.0).contains(&chi_square), "{first} {position}: {chi_square}");
        }
    }
}

/// Two texts of seven random characters differ in 7 × 56/57 = 6.877 of them. The average of 5,000
/// such pairs strays from it by 0.005.
fn assert_unrelated(pairs: impl Iterator<Item = (String, String)>) {
    let distances: Vec<_> = pairs.take(5_000).map(|(a, b)| distance(&a, &b)).collect();
    let average = f64::from(distances.iter().sum::<u32>()) / 5_000.0;
    assert!((average - 6.877).abs() < 0.025, "{average}");
}

#[test]
fn neighbours_have_unrelated_codes() {
    for step in [1, 2, 57, 1 << 21] {
        assert_unrelated((0..).map(|n| (spelled(&KEY, n), spelled(&KEY, n + step))));
    }
}

#[test]
fn keys_that_differ_in_one_bit_give_unrelated_codes() {
    for bit in [0, 100, 255] {
        let mut bytes = *KEY.as_bytes();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let other = CodeKey::from_bytes(bytes);
        assert_unrelated((0..).map(|n| (spelled(&KEY, n), spelled(&other, n))));
    }
}

#[test]
fn a_key_does_not_show_in_debug_output() {
    assert_eq!(format!("{KEY:?}"), "CodeKey(..)");
}

#[test]
fn a_range_gives_out_each_presentable_code_once_and_in_order() {
    let mut range = CodeRange::new(5_000, 5_000 + LEASE_SIZE);
    let taken: Vec<_> = std::iter::from_fn(|| range.next_code(&KEY)).collect();
    let numbers: Vec<_> = taken.iter().map(|code| number_of(&KEY, code).unwrap()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b));
    assert!(numbers.iter().all(|number| (5_000..5_000 + LEASE_SIZE).contains(number)));
    let screened =
        (5_000..5_000 + LEASE_SIZE).filter(|&number| code_for(&KEY, number).is_none()).count();
    assert!((1..50).contains(&screened), "the example should skip a few: {screened}");
    assert_eq!(numbers.len() + screened, usize::try_from(LEASE_SIZE).unwrap());
    assert_eq!(range.next_code(&KEY), None);
}

#[test]
fn a_range_past_the_space_is_empty() {
    assert_eq!(CodeRange::new(ALL_CODES, u64::MAX).next_code(&KEY), None);
    assert_eq!(CodeRange::new(u64::MAX, u64::MAX).next_code(&KEY), None);
    assert_eq!(CodeRange::new(9, 3).next_code(&KEY), None);
}

proptest! {
    #[test]
    fn a_code_leads_back_to_its_number(key: [u8; 32], number in 0..ALL_CODES, small in 0..SEVEN_CHARACTER_CODES) {
        let key = CodeKey::from_bytes(key);
        for number in [number, small] {
            let (space, place) = permuted(&key, number).unwrap();
            prop_assert!(place < space.size);
            prop_assert_eq!(number_of(&key, &Code(space.to_base57(place))), Some(number));
        }
    }

    #[test]
    fn a_code_is_spelled_in_the_alphabet_and_can_be_parsed(key: [u8; 32], number in 0..ALL_CODES) {
        if let Some(code) = code_for(&CodeKey::from_bytes(key), number) {
            prop_assert!(code.0.bytes().all(|byte| ALPHABET.contains(&byte)));
            prop_assert_eq!(Code::parse(code.as_str()), Some(code));
        }
    }
}
