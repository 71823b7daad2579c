//! There and back, and nothing else back.

use proptest::prelude::*;

use super::*;
use crate::feed::samples::{at, id, person};

fn cursor() -> Cursor {
    Cursor {
        order: Order::Ranked,
        weights: 2,
        at: at(100),
        top: id(90),
        below: id(10),
        left: vec![id(20), id(80), id(10)],
    }
}

fn read(cursor: &Cursor) -> Result<Cursor, Rejected> {
    Cursor::decode(&cursor.encode(&person(1)), &person(1))
}

#[test]
fn cursors_lead_back_to_their_own_reader_only() {
    assert_eq!(read(&cursor()), Ok(cursor()));
    assert!(Cursor::decode(&cursor().encode(&person(1)), &person(2)).is_err());
    let latest = Cursor { order: Order::Latest, left: vec![], ..cursor() };
    assert_eq!(read(&latest), Ok(latest));
}

#[test]
fn a_scroll_with_older_weights_goes_on_and_one_with_unknown_weights_does_not() {
    let older = Cursor { weights: 1, ..cursor() };
    assert_eq!(read(&older), Ok(older));
    assert!(read(&Cursor { weights: 9, ..cursor() }).is_err());
}

#[test]
fn a_cursor_that_no_scroll_makes_is_refused() {
    for wrong in [
        Cursor { left: vec![id(20), id(20)], ..cursor() },
        Cursor { left: vec![id(9)], ..cursor() },
        Cursor { left: vec![id(91)], ..cursor() },
        Cursor { left: (10..=90).cycle().take(201).map(id).collect(), ..cursor() },
        Cursor { order: Order::Latest, ..cursor() },
        Cursor { order: Order::Latest, left: vec![], below: id(91), ..cursor() },
    ] {
        let refused = read(&wrong).unwrap_err();
        assert!(refused.to_string().starts_with("cursor: "), "{refused}");
    }
    for text in ["", "AAAA", "nonsense!", &"A".repeat(9_000)] {
        assert!(Cursor::decode(text, &person(1)).is_err());
    }
}

#[test]
fn a_cursor_fits_into_an_address() {
    let left = (0..80).map(id).collect();
    assert!(
        Cursor { top: id(90), below: id(0), left, ..cursor() }.encode(&person(1)).len() < 1_600
    );
}

proptest! {
    #[test]
    fn a_bent_cursor_is_refused(place in 0_usize..200, bit in 0_u8..8) {
        let text = cursor().encode(&person(1));
        let mut bytes = URL_SAFE_NO_PAD.decode(&text).unwrap();
        let place = place % bytes.len();
        bytes[place] ^= 1 << bit;
        prop_assert!(Cursor::decode(&URL_SAFE_NO_PAD.encode(bytes), &person(1)).is_err());
    }

    #[test]
    fn whatever_text_is_given_is_answered(text: String, bytes: Vec<u8>) {
        let _ = Cursor::decode(&text, &person(1));
        prop_assert!(Cursor::decode(&URL_SAFE_NO_PAD.encode(bytes), &person(1)).is_err());
    }
}
