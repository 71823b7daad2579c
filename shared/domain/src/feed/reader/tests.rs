//! Coming, going and coming back.

mod search;

use super::*;
use crate::feed::fan_out::is_active;
use crate::feed::samples::{at, id, person};
use crate::feed::{FanOutMode, FanOutPolicy, PostDelivery};

const WEEK: i64 = 7 * 86_400;
const SETTINGS: FeedSettings =
    FeedSettings { timeline_size: 10, recent_size: 4, ..FeedSettings::DEFAULT };

fn recents(ids: impl Iterator<Item = i64>) -> RecentPosts {
    let mut row = RecentPosts::default();
    ids.for_each(|n| row.add(id(n), PostDelivery::Push, &SETTINGS));
    row
}

#[test]
fn visits_are_noted_seldom_and_a_return_begins_anew() {
    let reader = Reader::new(person(1), at(0));
    assert_eq!(reader.visit(at(VISIT_INTERVAL_SECONDS - 1), &SETTINGS), ReaderVisit::Recent);
    assert_eq!(reader.visit(at(-9), &SETTINGS), ReaderVisit::Recent);
    let ReaderVisit::Recorded(noted) = reader.visit(at(VISIT_INTERVAL_SECONDS), &SETTINGS) else {
        panic!()
    };
    assert_eq!(
        (noted.last_seen_at, noted.floor, noted.epoch),
        (at(VISIT_INTERVAL_SECONDS), PostId::MIN, 0)
    );
    let ReaderVisit::Returned(back) = reader.visit(at(WEEK), &SETTINGS) else { panic!() };
    assert_eq!((back.last_seen_at, back.floor, back.epoch), (at(WEEK), PostId::MAX, 1));
}

#[test]
fn a_reader_whom_a_fan_out_skips_is_known_to_have_been_away() {
    let reader = Reader::new(person(1), at(0));
    for second in (0..2 * WEEK).step_by(600) {
        for skew in [-10, 0, 10] {
            let skipped = !is_active(at(0), at(second + skew), &SETTINGS);
            let returned = matches!(reader.visit(at(second), &SETTINGS), ReaderVisit::Returned(_));
            assert!(!skipped || returned, "{second} {skew}");
        }
    }
}

#[test]
fn a_rebuild_is_complete_down_to_its_floor() {
    let reader = Reader { floor: PostId::MAX, ..Reader::new(person(1), at(0)) };
    let short = [(person(2), recents(0..3)), (person(3), recents(10..12))];
    let run = reader.rebuild(&short, &SETTINGS);
    assert_eq!((run.references.len(), run.floor), (5, None));
    // The row of person 2 was cut at 6, so nothing below that is known to be complete.
    let truncated_at = [(person(2), recents(0..10)), (person(3), recents(3..5))];
    let run = reader.rebuild(&truncated_at, &SETTINGS);
    assert_eq!((run.references.len(), run.floor), (4, Some(id(6))));
    assert_eq!(reader.rebuild(&[], &SETTINGS), ReferenceRun::default());
}

#[test]
fn following_brings_what_was_said_before() {
    let reader = Reader { floor: id(5), ..Reader::new(person(1), at(0)) };
    let (next, references) = reader.backfill(&person(2), &recents([4, 6, 7].into_iter()));
    let ids: Vec<_> = references.iter().map(|reference| reference.post_id).collect();
    assert_eq!((ids, next), (vec![id(7), id(6)], reader.clone()));
    let (next, references) = reader.backfill(&person(2), &recents(0..20));
    assert_eq!((references.len(), next.floor), (4, id(16)));
}

#[test]
fn a_rebuild_that_may_not_have_heard_of_an_author_begins_again() {
    let away = Reader { floor: PostId::MAX, epoch: 3, ..Reader::new(person(1), at(0)) };
    let (next, references) = away.backfill(&person(2), &recents(0..3));
    assert_eq!((next.floor, next.epoch, references.len()), (PostId::MAX, 4, 0));
}

#[test]
fn a_timeline_is_trimmed_when_it_is_a_tenth_too_long() {
    let rows: Vec<_> =
        (0..12).rev().map(|n| PostReference { post_id: id(n), author: person(2) }).collect();
    let reader = Reader::new(person(1), at(0));
    assert_eq!(reader.trim(&rows[..11], at(0), &SETTINGS), None);
    let trim = reader.trim(&rows, at(0), &SETTINGS).unwrap();
    assert_eq!((trim.floor, trim.dropped), (id(2), vec![id(1), id(0)]));
    let above = Reader { floor: id(5), ..reader.clone() };
    assert_eq!(above.trim(&rows, at(0), &SETTINGS).unwrap().floor, id(5));
    assert_eq!(reader.trim(&rows, at(TRIM_MAX_AWAY_SECONDS), &SETTINGS), None, "not here today");
    let rebuilding = Reader { floor: PostId::MAX, ..reader };
    assert_eq!(rebuilding.trim(&rows, at(0), &SETTINGS), None);
}

#[test]
fn marks_go_when_nothing_that_was_pulled_is_within_the_timeline() {
    let mut reader = Reader { floor: id(5), ..Reader::new(person(1), at(0)) };
    reader.pull_marks.insert(person(2), 1);
    reader.pull_marks.insert(person(3), 1);
    let fallen = |last| RecentPosts {
        last_pulled: Some(id(last)),
        policy: FanOutPolicy { mode: FanOutMode::Push, epoch: 3 },
        ..RecentPosts::default()
    };
    let rows = BTreeMap::from([(person(2), fallen(4)), (person(3), fallen(5))]);
    assert_eq!(reader.obsolete_marks(&rows), [(person(2), 1)]);
    let rebuilding = Reader { floor: PostId::MAX, ..reader };
    assert_eq!(rebuilding.obsolete_marks(&rows), [], "the rebuild may not have heard of them");
}
