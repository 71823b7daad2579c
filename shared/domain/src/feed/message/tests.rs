//! Messages read back, and say little.

use super::*;
use crate::feed::fan_out::Range;
use crate::feed::samples::{at, id, person, post};

#[test]
fn messages_are_tagged_versioned_and_read_back() {
    let page = PageOfFollowers { range: Range { from: 0, to: 9 }, after: Some(person(3)) };
    let name = id(1).text();
    let all = [
        (Message::created(&post(1, 1)), format!(r#"{{"type":"PostCreated","v":1,"postId":"{name}","author":"p1"}}"#)),
        (Message::deleted(&post(1, 1)), format!(r#"{{"type":"PostDeleted","v":1,"postId":"{name}","author":"p1"}}"#)),
        (
            Message::page(person(1), Task::Push { post_id: id(1) }, page.clone()),
            format!(
                r#"{{"type":"FanOutPage","v":1,"author":"p1","task":{{"for":"push","postId":"{name}"}},"page":{{"range":{{"from":0,"to":9}},"after":"p3"}}}}"#
            ),
        ),
        (
            Message::page(person(1), Task::Purge { post_id: id(1) }, PageOfFollowers { after: None, ..page.clone() }),
            format!(
                r#"{{"type":"FanOutPage","v":1,"author":"p1","task":{{"for":"purge","postId":"{name}"}},"page":{{"range":{{"from":0,"to":9}}}}}}"#
            ),
        ),
        (
            Message::page(person(1), Task::Mark { epoch: 4 }, PageOfFollowers { after: None, ..page }),
            r#"{"type":"FanOutPage","v":1,"author":"p1","task":{"for":"mark","epoch":4},"page":{"range":{"from":0,"to":9}}}"#.to_owned(),
        ),
        (
            Message::Followed { v: 1, follower: person(2), author: person(1) },
            r#"{"type":"Followed","v":1,"follower":"p2","author":"p1"}"#.to_owned(),
        ),
        (
            Message::Unfollowed { v: 1, follower: person(2), author: person(1) },
            r#"{"type":"Unfollowed","v":1,"follower":"p2","author":"p1"}"#.to_owned(),
        ),
        (
            Message::ReachCrossed { v: 1, author: person(1), epoch: 3 },
            r#"{"type":"ReachCrossed","v":1,"author":"p1","epoch":3}"#.to_owned(),
        ),
        (
            Message::ReaderReturned { v: 1, reader: person(1), epoch: 3 },
            r#"{"type":"ReaderReturned","v":1,"reader":"p1","epoch":3}"#.to_owned(),
        ),
        (
            Message::CountsMoved { v: 1, post_id: id(1) },
            format!(r#"{{"type":"CountsMoved","v":1,"postId":"{name}"}}"#),
        ),
    ];
    for (message, json) in all {
        assert_eq!(serde_json::to_string(&message).unwrap(), json);
        assert_eq!(serde_json::from_str::<Message>(&json).unwrap(), message);
        let newer = json.replacen('{', r#"{"later":true,"#, 1);
        assert_eq!(serde_json::from_str::<Message>(&newer).unwrap(), message);
    }
}

#[test]
fn hints_name_posts_and_where_to_resume() {
    let found = hint(vec![id(7), id(3), id(7)], at(9));
    assert_eq!(found, Hint::NewPosts { v: 1, post_ids: vec![id(3), id(7)], position: at(9) });
    let json = serde_json::to_string(&found).unwrap();
    assert!(json.starts_with(r#"{"type":"newPosts","v":1,"postIds":["#), "{json}");
    assert_eq!(serde_json::from_str::<Hint>(&json).unwrap(), found);
    let many = hint((0..101).map(id).collect(), at(9));
    assert_eq!(many, Hint::Reload { v: 1, position: at(9) });
    let said = r#"{"type":"resume","position":"2026-03-01T00:00:05Z"}"#;
    assert_eq!(serde_json::from_str::<Said>(said).unwrap(), Said::Resume { position: at(5) });
}

#[test]
fn who_resumes_is_told_of_what_came_late_however_old_it_is() {
    let pushed = [(id(1), at(990)), (id(2), at(939)), (id(3), at(940)), (id(1_200), at(1_200))];
    let pulled = [id(939), id(940), id(1_100)];
    let Hint::NewPosts { post_ids, position, .. } = missed(at(1_000), &pushed, &pulled, at(1_300))
    else {
        panic!("too many")
    };
    assert_eq!(post_ids, [id(1), id(3), id(940), id(1_100), id(1_200)]);
    assert_eq!(position, at(1_300));
}

proptest::proptest! {
    /// Hints that are sent as posts arrive, by writers whose clocks differ, and a connection that is
    /// cut at any moment.
    #[test]
    fn what_was_not_told_before_the_cut_is_told_after_it(
        arrivals in proptest::collection::vec((0_i64..5_000, 0_i64..2_000, -5_i64..=5, 0_i64..40), 0..60),
        cut in 0_i64..5_000, back in 0_i64..2_000,
    ) {
        let now = cut + back;
        // When it was stamped, by which clock, and when the write was through.
        let rows: Vec<_> = arrivals.iter().map(|(stamped, lag, skew, slow)| {
            (id(stamped - lag), at(stamped + skew), stamped + slow)
        }).collect();
        let told: Vec<_> = rows.iter().filter(|row| row.2 < cut).collect();
        let position = told.iter().map(|row| row.1).max().unwrap_or(at(-9_000));
        let there: Vec<_> =
            rows.iter().filter(|row| row.2 <= now).map(|row| (row.0, row.1)).collect();
        if let Hint::NewPosts { post_ids, .. } = missed(position, &there, &[], at(now)) {
            for row in rows.iter().filter(|row| (cut..=now).contains(&row.2)) {
                proptest::prop_assert!(post_ids.contains(&row.0));
            }
        }
    }
}
