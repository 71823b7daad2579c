//! What an id's bits and spellings promise.

use super::*;
use proptest::prelude::*;

fn id(bits: u64) -> Id {
    Id::new(bits).unwrap()
}

fn any_id() -> impl Strategy<Value = Id> {
    (0..=i64::MAX.cast_unsigned()).prop_map(id)
}

#[test]
fn a_published_snowflake_decodes_to_its_known_parts() {
    // The example of the layout's inventors: a post of 2022-06-28T16:07:40.105Z.
    let parts = id(1_541_815_603_606_036_480).parts();
    assert_eq!(parts.unix_ms, 1_656_432_460_105);
    assert_eq!((parts.datacenter, parts.machine, parts.sequence), (11, 26, 0));
}

#[test]
fn the_largest_id_uses_every_bit_but_the_sign() {
    let parts = id(i64::MAX.cast_unsigned()).parts();
    assert_eq!(parts.unix_ms, ERA_END_MS - 1);
    assert_eq!((parts.datacenter, parts.machine, parts.sequence), (31, 31, 4_095));
    assert_eq!(Id::new(1 << 63), Err(InvalidId::TooLarge));
}

#[test]
fn eleven_characters_are_base62_even_if_all_are_digits() {
    let text = "23456789012";
    assert_eq!(Id::parse(text), Id::parse_base62(text));
    assert_ne!(Id::parse(text), Id::parse_decimal(text));
    assert_eq!(Id::parse_decimal(text).unwrap().get(), 23_456_789_012);
    // The decimal reading, had it been meant, dates from the first seconds of the era.
    assert!(Id::parse_decimal("99999999999").unwrap().unix_ms() < EPOCH_MS + 24_000);
}

#[test]
fn ten_and_twelve_digits_are_decimal() {
    assert_eq!(Id::parse("1234567890").unwrap().get(), 1_234_567_890);
    assert_eq!(Id::parse("123456789012").unwrap().get(), 123_456_789_012);
}

#[test]
fn text_that_is_no_id_is_refused_with_its_reason() {
    let cases = [
        ("", InvalidId::Length),
        ("12345678901234567890", InvalidId::Length),
        ("+1", InvalidId::Character),
        ("-1", InvalidId::Character),
        (" 1", InvalidId::Character),
        ("1e3", InvalidId::Character),
        ("٣", InvalidId::Character),
        ("9223372036854775808", InvalidId::TooLarge),
        ("9999999999999999999", InvalidId::TooLarge),
        ("AzL8n0Y58m8", InvalidId::TooLarge),
        ("zzzzzzzzzzz", InvalidId::TooLarge),
        ("0000000000_", InvalidId::Character),
    ];
    for (text, reason) in cases {
        assert_eq!(Id::parse(text), Err(reason), "{text:?}");
    }
}

#[test]
fn json_holds_a_decimal_string_and_nothing_else() {
    let written = serde_json::to_string(&id(23_456_789_012)).unwrap();
    assert_eq!(written, "\"23456789012\"");
    assert_eq!(serde_json::from_str::<Id>(&written).unwrap(), id(23_456_789_012));
    assert!(serde_json::from_str::<Id>("23456789012").is_err());
    assert!(serde_json::from_str::<Id>("\"AzL8n0Y58m7\"").is_err());
}

proptest! {
    #[test]
    fn both_spellings_lead_back_to_the_id(id in any_id()) {
        prop_assert_eq!(Id::parse_decimal(&id.to_string()), Ok(id));
        prop_assert_eq!(Id::parse(&id.to_base62()), Ok(id));
        let json = serde_json::to_string(&id).unwrap();
        prop_assert_eq!(serde_json::from_str::<Id>(&json).unwrap(), id);
    }

    #[test]
    fn every_id_a_lease_can_issue_is_parsed_from_its_decimal(
        unix_ms in EPOCH_MS + 24_000..ERA_END_MS, machine_id in 0_u16..1_024, sequence in 0_u16..4_096,
    ) {
        let id = Id::from_base(Id::base(unix_ms, MachineId::masked(machine_id)), sequence);
        prop_assert_eq!(Id::parse(&id.to_string()), Ok(id));
        prop_assert_eq!(id.unix_ms(), unix_ms);
        prop_assert_eq!(id.machine_id().number(), machine_id);
        prop_assert_eq!(id.sequence(), sequence);
    }

    #[test]
    fn base62_sorts_as_the_ids_do(a in any_id(), b in any_id()) {
        prop_assert_eq!(a.to_base62().cmp(&b.to_base62()), a.cmp(&b));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,24}") {
        let _ = Id::parse(&text);
    }
}
