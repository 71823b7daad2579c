//! What can happen.

use proptest::prelude::*;

use super::hybrid::PEOPLE;
use domain::feed::{Privacy, SocialAction};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Post(u64, Privacy),
    Edit(usize, Privacy),
    Delete(usize),
    Hide(usize),
    Like(usize, u64),
    Act(u64, SocialAction, u64),
    Trim(u64),
    Away(u64),
    Rebuild(u64),
}

pub(super) fn ops(most: usize) -> impl Strategy<Value = Vec<Op>> {
    let who = || 0..PEOPLE;
    let privacy = || prop_oneof![4 => Just(Privacy::Public), 2 => Just(Privacy::Friends), 1 => Just(Privacy::Private)];
    let act = prop_oneof![
        10 => Just(SocialAction::Follow),
        2 => Just(SocialAction::Unfollow),
        1 => Just(SocialAction::Block),
        1 => Just(SocialAction::Unblock),
        1 => Just(SocialAction::Mute),
        1 => Just(SocialAction::Unmute),
    ];
    let op = prop_oneof![
        8 => (who(), privacy()).prop_map(|(who, privacy)| Op::Post(who, privacy)),
        1 => (any::<usize>(), privacy()).prop_map(|(which, privacy)| Op::Edit(which, privacy)),
        1 => any::<usize>().prop_map(Op::Delete),
        1 => any::<usize>().prop_map(Op::Hide),
        2 => (any::<usize>(), who()).prop_map(|(which, who)| Op::Like(which, who)),
        6 => (who(), act, who()).prop_map(|(who, act, whom)| Op::Act(who, act, whom)),
        2 => who().prop_map(Op::Trim),
        1 => who().prop_map(Op::Away),
        1 => who().prop_map(Op::Rebuild),
    ];
    prop::collection::vec(op, 0..most)
}
