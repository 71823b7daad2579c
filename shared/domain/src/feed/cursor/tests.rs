//! There and back, and nothing else back.

use proptest::prelude::*;

use super::*;
use crate::feed::samples::{at, id, person};

fn cursor() -> FeedCursor {
    FeedCursor {
        order: FeedOrder::Ranked,
        weights: 2,
        ranked_at: at(100),
        newest: id(90),
        below: id(10),
        remaining: vec![id(20), id(80), id(10)],
    }
}

fn read(cursor: &FeedCursor) -> Result<FeedCursor, Rejected> {
    FeedCursor::decode(&cursor.encode(&person(1)), &person(1))
}

#[test]
fn cursors_lead_back_to_their_own_reader_only() {
    assert_eq!(read(&cursor()), Ok(cursor()));
    assert!(FeedCursor::decode(&cursor().encode(&person(1)), &person(2)).is_err());
    let latest = FeedCursor { order: FeedOrder::Latest, remaining: vec![], ..cursor() };
    assert_eq!(read(&latest), Ok(latest));
}

#[test]
fn a_scroll_with_older_weights_goes_on_and_one_with_unknown_weights_does_not() {
    let older = FeedCursor { weights: 1, ..cursor() };
    assert_eq!(read(&older), Ok(older));
    assert!(read(&FeedCursor { weights: 9, ..cursor() }).is_err());
}

#[test]
fn a_cursor_that_no_scroll_makes_is_refused() {
    for wrong in [
        FeedCursor { remaining: vec![id(20), id(20)], ..cursor() },
        FeedCursor { remaining: vec![id(9)], ..cursor() },
        FeedCursor { remaining: vec![id(91)], ..cursor() },
        FeedCursor { remaining: (10..=90).cycle().take(201).map(id).collect(), ..cursor() },
        FeedCursor { order: FeedOrder::Latest, ..cursor() },
        FeedCursor { order: FeedOrder::Latest, remaining: vec![], below: id(91), ..cursor() },
    ] {
        let refused = read(&wrong).unwrap_err();
        assert!(refused.to_string().starts_with("cursor: "), "{refused}");
    }
    for text in ["", "AAAA", "nonsense!", &"A".repeat(9_000)] {
        assert!(FeedCursor::decode(text, &person(1)).is_err());
    }
}

#[test]
fn a_cursor_fits_into_an_address() {
    let remaining = (0..80).map(id).collect();
    assert!(
        FeedCursor { newest: id(90), below: id(0), remaining, ..cursor() }.encode(&person(1)).len()
            < 1_600
    );
}

proptest! {
    #[test]
    fn a_bent_cursor_is_refused(place in 0_usize..200, bit in 0_u8..8) {
        let text = cursor().encode(&person(1));
        let mut bytes = URL_SAFE_NO_PAD.decode(&text).unwrap();
        let place = place % bytes.len();
        bytes[place] ^= 1 << bit;
        prop_assert!(FeedCursor::decode(&URL_SAFE_NO_PAD.encode(bytes), &person(1)).is_err());
    }

    #[test]
    fn any_text_is_answered(text: String, bytes: Vec<u8>) {
        let _ = FeedCursor::decode(&text, &person(1));
        prop_assert!(FeedCursor::decode(&URL_SAFE_NO_PAD.encode(bytes), &person(1)).is_err());
    }
}
