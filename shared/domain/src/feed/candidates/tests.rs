//! What is merged is what there is.

use proptest::prelude::*;

use super::*;
use crate::feed::samples::{at, id, person};

fn reference(n: i64, author: u64) -> PostReference {
    PostReference { post_id: id(n), author: person(author) }
}

proptest! {
    /// Authors with any number of posts, of whom each round shows only some.
    #[test]
    fn rounds_show_every_post_once_and_in_order(
        owners in prop::collection::vec(0_u64..6, 0..60), most in 1_usize..12, limit in 1_usize..7,
        recent_size in 1_usize..9,
    ) {
        let settings = FeedSettings { recent_size, ..FeedSettings::DEFAULT };
        let posts: Vec<_> = (0_i64..).zip(owners).map(|(n, owner)| reference(n, owner)).collect();
        let mut rows: Vec<RecentPosts> = vec![RecentPosts::default(); 6];
        for post in &posts {
            let owner = (0..6).find(|n| person(*n) == post.author).unwrap();
            rows[usize::try_from(owner).unwrap()].add(post.post_id, PostDelivery::Push, &settings);
        }
        let mut below = PostId::MAX;
        let mut seen = Vec::new();
        loop {
            let runs = (0_u64..).zip(&rows).map(|(owner, row)| {
                row.run_below(&person(owner), below).unwrap_or_else(|| {
                    let ids: Vec<_> = posts.iter().rev()
                        .filter(|post| post.author == person(owner) && post.post_id < below)
                        .map(|post| post.post_id).take(limit).collect();
                    ReferenceRun::from_query(&person(owner), &ids, limit)
                })
            }).collect();
            let run = merge_runs(runs, below, most);
            prop_assert!(run.references.len() <= most);
            seen.extend(run.references);
            match run.floor {
                None => break,
                Some(floor) => {
                    prop_assert!(floor < below, "each round gets on");
                    below = floor;
                }
            }
        }
        let expected: Vec<_> = posts.into_iter().rev().collect();
        prop_assert_eq!(seen, expected);
    }
}

#[test]
fn what_is_read_by_both_ways_is_there_once() {
    let pushed = ReferenceRun { references: vec![reference(3, 1), reference(1, 1)], floor: None };
    let pulled = ReferenceRun { references: vec![reference(3, 1), reference(2, 2)], floor: None };
    let run = merge_runs(vec![pushed, pulled], PostId::MAX, 10);
    assert_eq!(run.references, [reference(3, 1), reference(2, 2), reference(1, 1)]);
    assert_eq!(run.floor, None);
}

#[test]
fn below_the_floor_of_a_timeline_everybody_is_asked() {
    let mut reader = Reader::new(person(1), at(0));
    reader.pull_marks.insert(person(2), 1);
    assert_eq!(
        candidate_sources(&reader, PostId::MAX),
        CandidateSources::Timeline(vec![person(2)])
    );
    reader.floor = id(5);
    assert_eq!(candidate_sources(&reader, id(6)), CandidateSources::Timeline(vec![person(2)]));
    assert_eq!(candidate_sources(&reader, id(5)), CandidateSources::AllFollowed);
    let rows = vec![reference(6, 3), reference(4, 3)];
    let run = ReferenceRun::from_timeline(rows.clone(), 9, &reader);
    assert_eq!((run.references.len(), run.floor), (1, Some(id(5))));
    reader.floor = PostId::MIN;
    assert_eq!(ReferenceRun::from_timeline(rows.clone(), 9, &reader).floor, None);
    assert_eq!(ReferenceRun::from_timeline(rows, 2, &reader).floor, Some(id(4)));
}

#[test]
fn a_row_of_recent_posts_keeps_the_newest_and_knows_that_there_are_more() {
    let settings = FeedSettings { recent_size: 2, ..FeedSettings::DEFAULT };
    let mut row = RecentPosts::default();
    for n in [2, 1, 3, 3] {
        row.add(id(n), if n == 2 { PostDelivery::Pull } else { PostDelivery::Push }, &settings);
    }
    assert_eq!((row.posts.clone(), row.truncated_at), (vec![id(3), id(2)], Some(id(2))));
    assert_eq!(row.last_pulled, Some(id(2)));
    assert_eq!(row.run_below(&person(1), id(2)), None);
    for gone in [2, 3] {
        row.remove(id(gone));
        let left = row.run_below(&person(1), PostId::MAX).unwrap();
        assert_eq!(left.floor, Some(id(2)), "older ones are there, also if nothing is left here");
    }
    // An instance whose clock is behind writes below what was left out.
    row.add(id(0), PostDelivery::Pull, &settings);
    assert_eq!(row.run_below(&person(1), PostId::MAX).unwrap().references, []);
    assert_eq!(row.run_below(&person(1), id(2)), None, "its author's posts have to be queried");
}

#[test]
fn reads_do_not_grow_with_follows() {
    assert_eq!((reads_of_first_page(0), reads_of_first_page(50)), (5, 6));
    assert_eq!((reads_of_rebuild(2_000), reads_of_rebuild(5_000)), (21, 51));
}
