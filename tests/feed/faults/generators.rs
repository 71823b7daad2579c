//! Actions, drawn from the seeded generator.

use std::collections::BTreeSet;

use domain::feed::SocialAction;

use super::actions::Action;
use super::model::PRIVACIES;
use super::scrolls::Scroll;
use super::{PEOPLE, Scenario};

impl Scenario {
    pub(super) fn person(&mut self) -> &'static str {
        PEOPLE[self.dice.index(PEOPLE.len())]
    }

    pub(super) fn pair(&mut self) -> (&'static str, &'static str) {
        let one = self.dice.index(PEOPLE.len());
        let other = (one + 1 + self.dice.index(PEOPLE.len() - 1)) % PEOPLE.len();
        (PEOPLE[one], PEOPLE[other])
    }

    pub(super) fn action(&mut self) -> Action {
        match self.dice.below(40) {
            0..9 => self.write(),
            9..11 => self.share(),
            11..14 => self.edit(),
            14..17 => self.delete(),
            17..23 => self.act(),
            23..26 => self.like(),
            26..28 => self.comment(),
            28 => self.uncomment(),
            29..35 => self.read(),
            35 => Action::Sweep,
            36 => Action::Lose,
            37 => Action::Later(Box::new(Action::Deliver)),
            _ => Action::Deliver,
        }
    }

    /// What one person does about one post is done once at a time, so that it is known what comes of it;
    /// so are scrolls of one reader. The same post may be changed twice.
    pub(super) fn apart(mut actions: Vec<Action>) -> Vec<Action> {
        let mut engaged: BTreeSet<(&str, String)> = BTreeSet::new();
        actions.retain(|action| match action {
            Action::Like { who, note, .. }
            | Action::Comment { who, note, .. }
            | Action::Uncomment { who, note, .. } => engaged.insert((*who, note.clone())),
            Action::Write { .. }
            | Action::Edit { .. }
            | Action::Delete { .. }
            | Action::Act { .. }
            | Action::Read(..)
            | Action::Later(_)
            | Action::Deliver
            | Action::Sweep
            | Action::Lose => true,
        });
        actions
    }

    fn named(&mut self) -> String {
        self.action += 1;
        format!("note-{}", self.action)
    }

    pub(super) fn write(&mut self) -> Action {
        let (who, note) = (self.author(), self.named());
        let privacy = PRIVACIES[[0, 0, 0, 0, 1, 2][self.dice.index(6)]];
        Action::Write { who, note, privacy, shares: None }
    }

    pub(super) fn say(&mut self, who: &'static str) -> Action {
        let (note, privacy) = (self.named(), PRIVACIES[0]);
        Action::Write { who, note, privacy, shares: None }
    }

    /// A post is changed and deleted at the same time.
    pub(super) fn change_mind(&mut self) -> [Action; 2] {
        match (self.delete(), PRIVACIES[self.dice.index(3)]) {
            (Action::Delete { who, note, id }, privacy) => {
                let edit = Action::Edit { who, note: note.clone(), id: id.clone(), privacy };
                [edit, Action::Delete { who, note, id }]
            }
            (other, _) => [other, self.write()],
        }
    }

    /// The first of them writes most.
    pub(super) fn author(&mut self) -> &'static str {
        if self.dice.below(3) == 0 { PEOPLE[0] } else { self.person() }
    }

    /// A post that is there, its name in the store and its author.
    fn post(&mut self, author: Option<&str>) -> Option<(String, String)> {
        let author = author.unwrap_or_else(|| self.author());
        let posts = self.known.posts_of(author);
        let note = posts.get(self.dice.index(posts.len()))?.clone();
        let id = self.known.posts.get(&note)?.id.text();
        Some((note, id))
    }

    fn share(&mut self) -> Action {
        let who = self.person();
        match self.post(None) {
            Some(shares) => {
                let (note, privacy) = (self.named(), PRIVACIES[self.dice.index(2)]);
                Action::Write { who, note, privacy, shares: Some(shares) }
            }
            None => self.write(),
        }
    }

    fn edit(&mut self) -> Action {
        let who = self.author();
        match self.post(Some(who)) {
            Some((note, id)) => {
                let privacy = PRIVACIES[[0, 0, 1, 2][self.dice.index(4)]];
                Action::Edit { who, note, id, privacy }
            }
            None => self.write(),
        }
    }

    pub(super) fn delete(&mut self) -> Action {
        let who = self.author();
        match self.post(Some(who)) {
            Some((note, id)) => Action::Delete { who, note, id },
            None => self.write(),
        }
    }

    pub(super) const fn follow(who: &'static str, whom: &'static str) -> Action {
        Action::Act { who, act: SocialAction::Follow, whom }
    }

    fn act(&mut self) -> Action {
        const ACTS: [SocialAction; 14] = [
            SocialAction::Follow,
            SocialAction::Follow,
            SocialAction::Follow,
            SocialAction::Follow,
            SocialAction::Follow,
            SocialAction::Unfollow,
            SocialAction::Unfollow,
            SocialAction::Unfollow,
            SocialAction::Block,
            SocialAction::Unblock,
            SocialAction::Unblock,
            SocialAction::Mute,
            SocialAction::Unmute,
            SocialAction::Unmute,
        ];
        let (who, whom) = self.pair();
        let whom = if who != PEOPLE[0] && self.dice.below(3) == 0 { PEOPLE[0] } else { whom };
        Action::Act { who, act: ACTS[self.dice.index(ACTS.len())], whom }
    }

    /// Several begin or cease to follow the same, who writes meanwhile.
    pub(super) fn crowd(&mut self) -> Vec<Action> {
        let whom = self.author();
        let act =
            if self.dice.below(3) == 0 { SocialAction::Unfollow } else { SocialAction::Follow };
        let mut actions: Vec<Action> = PEOPLE
            .into_iter()
            .filter(|who| *who != whom && (act == SocialAction::Follow || self.dice.below(3) > 0))
            .map(|who| Action::Act { who, act, whom })
            .collect();
        actions.extend([self.say(whom), Action::Deliver, self.say(whom)]);
        actions.push(Action::Later(Box::new(Action::Deliver)));
        actions
    }

    /// An author's newest posts are deleted while another user begins to follow.
    pub(super) fn regret(&mut self) -> Vec<Action> {
        let whom = self.author();
        let mut posts = self.known.posts_of(whom);
        posts.sort_by_key(|note| std::cmp::Reverse(self.known.posts[note].id));
        let gone = posts.into_iter().take(3).map(|note| {
            let id = self.known.posts[&note].id.text();
            Action::Delete { who: whom, note, id }
        });
        let mut actions: Vec<Action> = gone.collect();
        let who = PEOPLE.into_iter().find(|who| *who != whom).unwrap_or(PEOPLE[0]);
        for act in [SocialAction::Unfollow, SocialAction::Follow] {
            actions.push(Action::Act { who, act, whom });
        }
        actions.push(Action::Later(Box::new(Action::Deliver)));
        actions
    }

    /// Two users act on each other at the same time, and one reads.
    pub(super) fn quarrel(&mut self) -> Vec<Action> {
        let (one, two) = self.pair();
        let first =
            [SocialAction::Block, SocialAction::Unblock, SocialAction::Follow][self.dice.index(3)];
        let second =
            [SocialAction::Follow, SocialAction::Block, SocialAction::Unfollow][self.dice.index(3)];
        vec![
            Action::Act { who: one, act: first, whom: two },
            Action::Act { who: two, act: second, whom: one },
            self.read_anew(two, 2),
            Action::Deliver,
        ]
    }

    fn like(&mut self) -> Action {
        let index = self.dice.index(self.known.likes.len() * 2);
        if let Some((who, note)) = self.known.likes.iter().nth(index).cloned() {
            let id = self.known.posts[&note].id.text();
            return Action::Like { who, note, id, likes: false };
        }
        let (who, likes) = (self.person(), self.dice.below(6) > 0);
        match self.post(None) {
            Some((note, id)) => Action::Like { who, note, id, likes },
            None => self.write(),
        }
    }

    fn comment(&mut self) -> Action {
        let (who, once) = (self.person(), self.named());
        match self.post(None) {
            Some((note, id)) => Action::Comment { who, note, id, once },
            None => self.write(),
        }
    }

    fn uncomment(&mut self) -> Action {
        let index = self.dice.index(self.known.remarks.len());
        let Some(remark) = self.known.remarks.get(index).cloned() else { return self.comment() };
        let Some(noted) = self.known.posts.get(&remark.note) else { return self.comment() };
        let id = noted.id.text();
        Action::Uncomment { who: remark.who, note: remark.note, id, comment: remark.id }
    }

    /// A scroll goes on, or a new one begins.
    pub(super) fn read(&mut self) -> Action {
        let pages = 1 + self.dice.index(3);
        if !self.scrolls.is_empty() && self.dice.below(2) == 0 {
            let index = self.dice.index(self.scrolls.len());
            return Action::Read(self.scrolls.remove(index), pages);
        }
        let reader = self.person();
        self.read_anew(reader, pages)
    }

    /// A new scroll takes the place of the one before.
    pub(super) fn read_anew(&mut self, reader: &'static str, pages: usize) -> Action {
        self.scrolls.retain(|scroll| scroll.reader() != reader);
        let order = ["ranked", "latest"][self.dice.index(2)];
        let limit = [1, 2, 3, 5][self.dice.index(4)];
        Action::Read(Scroll::new(reader, order, limit), pages)
    }
}
