//! Acts, in any order.

use proptest::prelude::*;

use super::*;
use crate::feed::samples::person;

const ACTS: [SocialAction; 6] = [
    SocialAction::Follow,
    SocialAction::Unfollow,
    SocialAction::Block,
    SocialAction::Unblock,
    SocialAction::Mute,
    SocialAction::Unmute,
];

fn apply(
    relationship: Relationship,
    act: SocialAction,
) -> Result<Option<RelationshipChange>, Rejected> {
    relationship.apply(act, &person(1), &person(2), 0)
}

#[test]
fn no_user_has_a_relationship_with_themselves() {
    for act in ACTS {
        assert!(Relationship::default().apply(act, &person(1), &person(1), 0).is_err());
    }
}

#[test]
fn a_blocked_user_can_not_follow_and_is_not_told_why() {
    let blocked = Relationship {
        theirs: Side { blocks: true, ..Side::default() },
        ..Relationship::default()
    };
    assert_eq!(apply(blocked, SocialAction::Follow), Err(Rejected::UnknownUser));
    assert_eq!(apply(blocked.reversed(), SocialAction::Follow), Err(Rejected::Blocked));
}

#[test]
fn following_ends_at_a_bound() {
    let last = Relationship::default().apply(
        SocialAction::Follow,
        &person(1),
        &person(2),
        MAX_FOLLOWS - 1,
    );
    let relationship = last.unwrap().unwrap().relationship;
    assert!(
        Relationship::default()
            .apply(SocialAction::Follow, &person(1), &person(2), MAX_FOLLOWS)
            .is_err()
    );
    assert_eq!(
        relationship.apply(SocialAction::Follow, &person(1), &person(2), MAX_FOLLOWS),
        Ok(None)
    );
}

#[test]
fn the_row_is_the_same_for_both() {
    let (a, b) = (person(1), person(2));
    assert_eq!(Relationship::key(&a, &b), (&a, &b, true));
    assert_eq!(Relationship::key(&b, &a), (&a, &b, false));
}

proptest! {
    /// Any acts of two people, doubled at will.
    #[test]
    fn no_follow_lies_beside_a_block_and_counts_are_exact(
        acts in prop::collection::vec((prop::sample::select(&ACTS[..]), any::<bool>()), 0..40),
    ) {
        let mut relationship = Relationship::default();
        let (mut mine, mut theirs) = (0_i32, 0_i32);
        for (act, other) in acts {
            let seen = if other { relationship.reversed() } else { relationship };
            if let Ok(Some(change)) = apply(seen, act) {
                prop_assert_eq!(apply(change.relationship, act), Ok(None), "a repeat changes nothing");
                let (to_me, to_them) = if other {
                    (change.their_followers, change.my_followers)
                } else {
                    (change.my_followers, change.their_followers)
                };
                mine += i32::from(to_me);
                theirs += i32::from(to_them);
                relationship = if other { change.relationship.reversed() } else { change.relationship };
            }
            prop_assert!(!relationship.is_blocked() || (!relationship.mine.follows && !relationship.theirs.follows));
            prop_assert_eq!(theirs, i32::from(relationship.mine.follows));
            prop_assert_eq!(mine, i32::from(relationship.theirs.follows));
        }
    }
}
