//! Acts, in any order.

use proptest::prelude::*;

use super::*;
use crate::feed::samples::person;

const ACTS: [Act; 6] =
    [Act::Follow, Act::Unfollow, Act::Block, Act::Unblock, Act::Mute, Act::Unmute];

fn after(tie: Tie, act: Act) -> Result<Option<Change>, Rejected> {
    tie.after(act, &person(1), &person(2), 0)
}

#[test]
fn nobody_is_tied_to_themselves() {
    for act in ACTS {
        assert!(Tie::default().after(act, &person(1), &person(1), 0).is_err());
    }
}

#[test]
fn whoever_is_blocked_can_not_follow_and_is_not_told_why() {
    let blocked = Tie { theirs: Side { blocks: true, ..Side::default() }, ..Tie::default() };
    assert_eq!(after(blocked, Act::Follow), Err(Rejected::UnknownUser));
    assert_eq!(after(blocked.turned(), Act::Follow), Err(Rejected::Blocked));
}

#[test]
fn following_ends_at_a_bound() {
    let last = Tie::default().after(Act::Follow, &person(1), &person(2), MAX_FOLLOWS - 1);
    let tie = last.unwrap().unwrap().tie;
    assert!(Tie::default().after(Act::Follow, &person(1), &person(2), MAX_FOLLOWS).is_err());
    assert_eq!(tie.after(Act::Follow, &person(1), &person(2), MAX_FOLLOWS), Ok(None));
}

#[test]
fn the_row_is_the_same_for_both() {
    let (a, b) = (person(1), person(2));
    assert_eq!(Tie::key(&a, &b), (&a, &b, true));
    assert_eq!(Tie::key(&b, &a), (&a, &b, false));
}

proptest! {
    /// Any acts of two people, doubled at will.
    #[test]
    fn no_follow_lies_beside_a_block_and_counts_are_exact(
        acts in prop::collection::vec((prop::sample::select(&ACTS[..]), any::<bool>()), 0..40),
    ) {
        let mut tie = Tie::default();
        let (mut mine, mut theirs) = (0_i32, 0_i32);
        for (act, other) in acts {
            let seen = if other { tie.turned() } else { tie };
            if let Ok(Some(change)) = after(seen, act) {
                prop_assert_eq!(after(change.tie, act), Ok(None), "a repeat changes nothing");
                let (to_me, to_them) = if other {
                    (change.their_followers, change.my_followers)
                } else {
                    (change.my_followers, change.their_followers)
                };
                mine += i32::from(to_me);
                theirs += i32::from(to_them);
                tie = if other { change.tie.turned() } else { change.tie };
            }
            prop_assert!(!tie.is_blocked() || (!tie.mine.follows && !tie.theirs.follows));
            prop_assert_eq!(theirs, i32::from(tie.mine.follows));
            prop_assert_eq!(mine, i32::from(tie.theirs.follows));
        }
    }
}
