//! Hints name what is new, and who comes back misses nothing.

use super::*;
use crate::feed::samples::{at, id};

#[test]
fn hints_name_posts_and_where_to_resume() {
    let found = new_posts_message(vec![id(7), id(3), id(7)], at(9));
    assert_eq!(
        found,
        ServerMessage::NewPosts { v: 1, post_ids: vec![id(3), id(7)], position: at(9) }
    );
    let json = serde_json::to_string(&found).unwrap();
    assert!(json.starts_with(r#"{"type":"newPosts","v":1,"postIds":["#), "{json}");
    assert_eq!(serde_json::from_str::<ServerMessage>(&json).unwrap(), found);
    let many = new_posts_message((0..101).map(id).collect(), at(9));
    assert_eq!(many, ServerMessage::Reload { v: 1, position: at(9) });
}

#[test]
fn what_is_said_is_read_and_nonsense_is_refused() {
    let resume = r#"{"type":"resume","position":"2026-03-01T00:00:05Z"}"#;
    assert_eq!(ClientMessage::parse(resume, at(9)), Ok(ClientMessage::Resume { position: at(5) }));
    // Those who write hints may have clocks that are ahead of ours, but not by much.
    assert!(ClientMessage::parse(resume, at(-55)).is_ok());
    assert!(ClientMessage::parse(resume, at(-56)).unwrap_err().to_string().starts_with("position"));
    assert_eq!(
        ClientMessage::parse(r#"{"type":"ping","later":1}"#, at(0)),
        Ok(ClientMessage::Ping)
    );
    for wrong in ["", "hello", "[]", "{}", r#"{"type":"hello"}"#, r#"{"type":"resume"}"#] {
        let refused = ClientMessage::parse(wrong, at(0)).unwrap_err().to_string();
        assert!(refused.starts_with("message: {\"type\":"), "{wrong}: {refused}");
    }
}

#[test]
fn what_is_answered_says_what_it_is() {
    let pong = ServerMessage::Pong { v: 1, position: at(5) };
    assert_eq!(pong.text(), r#"{"type":"pong","v":1,"position":"2026-03-01T00:00:05Z"}"#);
    assert_eq!(ServerMessage::problem("no").text(), r#"{"type":"problem","v":1,"detail":"no"}"#);
}

fn recents(posts: impl IntoIterator<Item = i64>, more: bool) -> RecentPosts {
    let posts: Vec<_> = posts.into_iter().map(id).collect();
    let truncated_at = posts.last().copied().filter(|_| more);
    RecentPosts { posts, truncated_at, ..RecentPosts::default() }
}

#[test]
fn who_resumes_is_told_of_what_came_late_however_old_it_is() {
    let pushed = [(id(1), at(990)), (id(2), at(939)), (id(3), at(940)), (id(1_200), at(1_200))];
    let pulled = [recents([1_100, 100, 99], false), recents([], false)];
    let ServerMessage::NewPosts { post_ids, position, .. } =
        missed_posts(at(1_000), pushed, &pulled, at(1_300))
    else {
        panic!("too many")
    };
    assert_eq!(post_ids, [id(1), id(3), id(100), id(1_100), id(1_200)]);
    assert_eq!(position, at(1_300));
}

#[test]
fn who_missed_more_than_a_row_remembers_reads_anew() {
    let reload = ServerMessage::Reload { v: 1, position: at(1_300) };
    let found = |row: RecentPosts| missed_posts(at(1_000), [], &[row], at(1_300));
    assert_eq!(found(recents([1_200, 1_100], true)), reload);
    assert_ne!(found(recents([1_200, 1_100], false)), reload);
    assert_ne!(found(recents([1_200, 99], true)), reload, "what is left out is older");
}

proptest::proptest! {
    /// Hints that are sent as posts arrive, by writers whose clocks differ, and a connection that is
    /// cut at any moment.
    #[test]
    fn what_was_not_told_before_the_cut_is_told_after_it(
        arrivals in proptest::collection::vec((0_i64..5_000, 0_i64..2_000, -5_i64..=5, 0_i64..40), 0..60),
        truncated_at in 0_i64..5_000, back in 0_i64..2_000,
    ) {
        let now = truncated_at + back;
        // When it was stamped, by which clock, and when the write was through.
        let rows: Vec<_> = arrivals.iter().map(|(stamped, lag, skew, slow)| {
            (id(stamped - lag), at(stamped + skew), stamped + slow)
        }).collect();
        let told: Vec<_> = rows.iter().filter(|row| row.2 < truncated_at).collect();
        let position = told.iter().map(|row| row.1).max().unwrap_or(at(-9_000));
        let there: Vec<_> =
            rows.iter().filter(|row| row.2 <= now).map(|row| (row.0, row.1)).collect();
        if let ServerMessage::NewPosts { post_ids, .. } = missed_posts(position, there, &[], at(now)) {
            for row in rows.iter().filter(|row| (truncated_at..=now).contains(&row.2)) {
                proptest::prop_assert!(post_ids.contains(&row.0));
            }
        }
    }
}
