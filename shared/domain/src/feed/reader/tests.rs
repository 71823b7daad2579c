//! Coming, going and coming back.

mod search;

use super::*;
use crate::feed::fan_out::is_written_to;
use crate::feed::samples::{at, id, person};
use crate::feed::{Fan, Mode, Reach};

const WEEK: i64 = 7 * 86_400;
const SETTINGS: Settings = Settings { kept: 10, recents: 4, ..Settings::DEFAULT };

fn recents(ids: impl Iterator<Item = i64>) -> Recents {
    let mut row = Recents::default();
    ids.for_each(|n| row.add(id(n), Fan::Push, &SETTINGS));
    row
}

#[test]
fn visits_are_noted_seldom_and_a_return_begins_anew() {
    let reader = Reader::new(person(1), at(0));
    assert_eq!(reader.arrives(at(NOTED_SECONDS - 1), &SETTINGS), Arrival::Here);
    assert_eq!(reader.arrives(at(-9), &SETTINGS), Arrival::Here);
    let Arrival::Noted(noted) = reader.arrives(at(NOTED_SECONDS), &SETTINGS) else { panic!() };
    assert_eq!((noted.seen_at, noted.floor, noted.epoch), (at(NOTED_SECONDS), PostId::MIN, 0));
    let Arrival::Returned(back) = reader.arrives(at(WEEK), &SETTINGS) else { panic!() };
    assert_eq!((back.seen_at, back.floor, back.epoch), (at(WEEK), PostId::MAX, 1));
}

#[test]
fn whoever_a_fan_out_skips_knows_that_they_were_away() {
    let reader = Reader::new(person(1), at(0));
    for second in (0..2 * WEEK).step_by(600) {
        for skew in [-10, 0, 10] {
            let skipped = !is_written_to(at(0), at(second + skew), &SETTINGS);
            let returned = matches!(reader.arrives(at(second), &SETTINGS), Arrival::Returned(_));
            assert!(!skipped || returned, "{second} {skew}");
        }
    }
}

#[test]
fn a_rebuild_is_complete_down_to_its_floor() {
    let reader = Reader { floor: PostId::MAX, ..Reader::new(person(1), at(0)) };
    let short = [(person(2), recents(0..3)), (person(3), recents(10..12))];
    let run = reader.rebuilt(&short, &SETTINGS);
    assert_eq!((run.references.len(), run.floor), (5, None));
    // The row of person 2 was cut at 6, so nothing below that is known to be complete.
    let cut = [(person(2), recents(0..10)), (person(3), recents(3..5))];
    let run = reader.rebuilt(&cut, &SETTINGS);
    assert_eq!((run.references.len(), run.floor), (4, Some(id(6))));
    assert_eq!(reader.rebuilt(&[], &SETTINGS), Run::default());
}

#[test]
fn following_brings_what_was_said_before() {
    let reader = Reader { floor: id(5), ..Reader::new(person(1), at(0)) };
    let (next, references) = reader.backfilled(&person(2), &recents([4, 6, 7].into_iter()));
    let ids: Vec<_> = references.iter().map(|reference| reference.post_id).collect();
    assert_eq!((ids, next), (vec![id(7), id(6)], reader.clone()));
    let (next, references) = reader.backfilled(&person(2), &recents(0..20));
    assert_eq!((references.len(), next.floor), (4, id(16)));
}

#[test]
fn a_rebuild_that_may_not_have_heard_of_an_author_begins_again() {
    let away = Reader { floor: PostId::MAX, epoch: 3, ..Reader::new(person(1), at(0)) };
    let (next, references) = away.backfilled(&person(2), &recents(0..3));
    assert_eq!((next.floor, next.epoch, references.len()), (PostId::MAX, 4, 0));
}

#[test]
fn a_timeline_is_trimmed_when_it_is_a_tenth_too_long() {
    let rows: Vec<_> =
        (0..12).rev().map(|n| Reference { post_id: id(n), author: person(2) }).collect();
    let reader = Reader::new(person(1), at(0));
    assert_eq!(reader.trimmed(&rows[..11], at(0), &SETTINGS), None);
    let trim = reader.trimmed(&rows, at(0), &SETTINGS).unwrap();
    assert_eq!((trim.floor, trim.dropped), (id(2), vec![id(1), id(0)]));
    let above = Reader { floor: id(5), ..reader.clone() };
    assert_eq!(above.trimmed(&rows, at(0), &SETTINGS).unwrap().floor, id(5));
    assert_eq!(reader.trimmed(&rows, at(TRIMMED_SECONDS), &SETTINGS), None, "not here today");
    let rebuilding = Reader { floor: PostId::MAX, ..reader };
    assert_eq!(rebuilding.trimmed(&rows, at(0), &SETTINGS), None);
}

#[test]
fn marks_go_when_nothing_that_was_pulled_is_within_the_timeline() {
    let mut reader = Reader { floor: id(5), ..Reader::new(person(1), at(0)) };
    reader.marks.insert(person(2), 1);
    reader.marks.insert(person(3), 1);
    let fallen = |last| Recents {
        last_pulled: Some(id(last)),
        reach: Reach { mode: Mode::Pushed, epoch: 3 },
        ..Recents::default()
    };
    let rows = BTreeMap::from([(person(2), fallen(4)), (person(3), fallen(5))]);
    assert_eq!(reader.outlived(&rows), [(person(2), 1)]);
    let rebuilding = Reader { floor: PostId::MAX, ..reader };
    assert_eq!(rebuilding.outlived(&rows), [], "the rebuild may not have heard of them");
}
