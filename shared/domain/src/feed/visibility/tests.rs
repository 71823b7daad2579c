//! The table, spelled out, and what holds for all of it.

use proptest::prelude::*;

use super::*;
use crate::feed::samples::{at, person, post};
use crate::feed::{PostBody, Side};

fn with(privacy: Privacy) -> Post {
    Post { body: PostBody { privacy, ..post(1, 1).body }, ..post(1, 1) }
}

fn side(bits: u8) -> Side {
    Side { follows: bits & 1 > 0, blocks: bits & 2 > 0, mutes: bits & 4 > 0 }
}

#[test]
fn the_table_holds() {
    let none = Side::default();
    let follows = Side { follows: true, ..none };
    let blocks = Side { blocks: true, ..none };
    let mutes = Side { mutes: true, ..none };
    let muting_friend = Side { mutes: true, ..follows };
    // mine, theirs, then whether PUBLIC, FRIENDS and PRIVATE are seen in lists and by name.
    for (mine, theirs, listed, direct) in [
        (none, none, [true, false, false], [true, false, false]),
        (follows, none, [true, false, false], [true, false, false]),
        (none, follows, [true, false, false], [true, false, false]),
        (follows, follows, [true, true, false], [true, true, false]),
        (blocks, none, [false; 3], [false; 3]),
        (none, blocks, [false; 3], [false; 3]),
        (follows, blocks, [false; 3], [false; 3]),
        (mutes, none, [false; 3], [true, false, false]),
        (muting_friend, follows, [false; 3], [true, true, false]),
        (none, mutes, [true, false, false], [true, false, false]),
    ] {
        let relationship = Relationship { mine, theirs };
        for (index, privacy) in Privacy::ALL.into_iter().enumerate() {
            let seen = |place| is_visible(&with(privacy), &relationship, &person(2), place);
            assert_eq!(seen(ViewContext::Listed), listed[index], "{privacy:?} {relationship:?}");
            assert_eq!(seen(ViewContext::Direct), direct[index], "{privacy:?} {relationship:?}");
        }
    }
}

#[test]
fn authors_see_what_is_hidden_and_no_one_sees_what_is_deleted() {
    let hidden = post(1, 1).hidden(at(2)).unwrap();
    let gone = post(1, 1).deleted(at(2)).unwrap();
    for place in [ViewContext::Direct, ViewContext::Listed] {
        assert!(is_visible(&hidden, &Relationship::default(), &person(1), place));
        assert!(!is_visible(&hidden, &Relationship::default(), &person(2), place));
        assert!(!is_visible(&gone, &Relationship::default(), &person(1), place));
        assert!(!is_visible(&gone, &Relationship::default(), &person(2), place));
    }
}

#[test]
fn a_blocked_user_does_not_know_the_other_who_knows_them() {
    let blocks = Relationship { mine: side(2), theirs: side(0) };
    assert!(is_profile_visible(&blocks) && !is_profile_visible(&blocks.reversed()));
}

prop_compose! {
    fn any_post()(privacy in prop::sample::select(&Privacy::ALL[..]), fate in 0..3) -> Post {
        let post = with(privacy);
        match fate {
            0 => post,
            1 => post.hidden(at(2)).unwrap(),
            _ => post.deleted(at(2)).unwrap(),
        }
    }
}

proptest! {
    #[test]
    fn no_answer_tells_what_is_hidden_from_what_is_not_there(
        post in any_post(), mine in 0..8_u8, theirs in 0..8_u8, own: bool, direct: bool,
    ) {
        let relationship = Relationship { mine: side(mine), theirs: side(theirs) };
        let reader = person(if own { 1 } else { 2 });
        let place = if direct { ViewContext::Direct } else { ViewContext::Listed };
        let absent = ensure_visible(None, &relationship, &reader, place).unwrap_err();
        match ensure_visible(Some(&post), &relationship, &reader, place) {
            Ok(seen) => prop_assert_eq!(seen, &post),
            Err(refused) => {
                prop_assert_eq!(&refused, &absent);
                prop_assert_eq!(refused.to_string(), absent.to_string());
            }
        }
    }

    #[test]
    fn every_rule_only_takes_away(
        post in any_post(), mine in 0..8_u8, theirs in 0..8_u8, direct: bool,
    ) {
        let relationship = Relationship { mine: side(mine), theirs: side(theirs) };
        let place = if direct { ViewContext::Direct } else { ViewContext::Listed };
        let seen = |relationship: &Relationship, place| is_visible(&post, relationship, &person(2), place);
        if seen(&relationship, place) {
            prop_assert!(seen(&relationship, ViewContext::Direct), "what is listed can be asked for");
            let stranger = Relationship { mine: side(mine & !1), theirs: side(theirs) };
            prop_assert!(post.body.privacy == Privacy::Public || !seen(&stranger, place));
            for blocked in [
                Relationship { mine: side(mine | 2), ..relationship },
                Relationship { theirs: side(theirs | 2), ..relationship },
            ] {
                prop_assert!(!seen(&blocked, place));
            }
            let muted = Relationship { mine: side(mine | 4), ..relationship };
            prop_assert!(!seen(&muted, ViewContext::Listed));
        }
        prop_assert!(!belongs_in_feed(&post, &relationship, &person(2)) || seen(&relationship, ViewContext::Listed));
        prop_assert!(!belongs_in_feed(&post, &relationship, &person(2)) || relationship.mine.follows);
        prop_assert!(!belongs_in_feed(&post, &relationship, &person(1)), "one's own posts are on one's profile");
    }
}
