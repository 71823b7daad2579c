//! What people want, drawn from the dice.

use std::collections::BTreeSet;

use domain::feed::Act;

use super::known::PRIVACIES;
use super::scrolls::Scroll;
use super::wishes::Wish;
use super::{Life, PEOPLE};

impl Life {
    pub(super) fn person(&mut self) -> &'static str {
        PEOPLE[self.below(PEOPLE.len())]
    }

    pub(super) fn pair(&mut self) -> (&'static str, &'static str) {
        let one = self.below(PEOPLE.len());
        let other = (one + 1 + self.below(PEOPLE.len() - 1)) % PEOPLE.len();
        (PEOPLE[one], PEOPLE[other])
    }

    /// Something that somebody wants.
    pub(super) fn wish(&mut self) -> Wish {
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
            35 => Wish::Sweep,
            36 => Wish::Lose,
            37 => Wish::Later(Box::new(Wish::Deliver)),
            _ => Wish::Deliver,
        }
    }

    /// What one person does about one post is done once at a time, so that it is known what comes of it;
    /// so are scrolls of one reader. The same post may be changed twice.
    pub(super) fn apart(mut wishes: Vec<Wish>) -> Vec<Wish> {
        let mut engaged: BTreeSet<(&str, String)> = BTreeSet::new();
        wishes.retain(|wish| match wish {
            Wish::Like { who, note, .. }
            | Wish::Comment { who, note, .. }
            | Wish::Uncomment { who, note, .. } => engaged.insert((*who, note.clone())),
            Wish::Write { .. }
            | Wish::Edit { .. }
            | Wish::Delete { .. }
            | Wish::Act { .. }
            | Wish::Read(..)
            | Wish::Later(_)
            | Wish::Deliver
            | Wish::Sweep
            | Wish::Lose => true,
        });
        wishes
    }

    fn named(&mut self) -> String {
        self.wish += 1;
        format!("note-{}", self.wish)
    }

    pub(super) fn write(&mut self) -> Wish {
        let (who, note) = (self.author(), self.named());
        let privacy = PRIVACIES[[0, 0, 0, 0, 1, 2][self.below(6)]];
        Wish::Write { who, note, privacy, shares: None }
    }

    /// Something for everybody.
    pub(super) fn say(&mut self, who: &'static str) -> Wish {
        let (note, privacy) = (self.named(), PRIVACIES[0]);
        Wish::Write { who, note, privacy, shares: None }
    }

    /// A post is changed and deleted at the same time.
    pub(super) fn change_mind(&mut self) -> [Wish; 2] {
        match (self.delete(), PRIVACIES[self.below(3)]) {
            (Wish::Delete { who, note, id }, privacy) => {
                let edit = Wish::Edit { who, note: note.clone(), id: id.clone(), privacy };
                [edit, Wish::Delete { who, note, id }]
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
        let note = posts.get(self.below(posts.len()))?.clone();
        let id = self.known.posts.get(&note)?.id.text();
        Some((note, id))
    }

    fn share(&mut self) -> Wish {
        let who = self.person();
        match self.post(None) {
            Some(shares) => {
                let (note, privacy) = (self.named(), PRIVACIES[self.below(2)]);
                Wish::Write { who, note, privacy, shares: Some(shares) }
            }
            None => self.write(),
        }
    }

    fn edit(&mut self) -> Wish {
        let who = self.author();
        match self.post(Some(who)) {
            Some((note, id)) => {
                let privacy = PRIVACIES[[0, 0, 1, 2][self.below(4)]];
                Wish::Edit { who, note, id, privacy }
            }
            None => self.write(),
        }
    }

    pub(super) fn delete(&mut self) -> Wish {
        let who = self.author();
        match self.post(Some(who)) {
            Some((note, id)) => Wish::Delete { who, note, id },
            None => self.write(),
        }
    }

    pub(super) const fn follow(who: &'static str, whom: &'static str) -> Wish {
        Wish::Act { who, act: Act::Follow, whom }
    }

    fn act(&mut self) -> Wish {
        const ACTS: [Act; 14] = [
            Act::Follow,
            Act::Follow,
            Act::Follow,
            Act::Follow,
            Act::Follow,
            Act::Unfollow,
            Act::Unfollow,
            Act::Unfollow,
            Act::Block,
            Act::Unblock,
            Act::Unblock,
            Act::Mute,
            Act::Unmute,
            Act::Unmute,
        ];
        let (who, whom) = self.pair();
        let whom = if who != PEOPLE[0] && self.dice.below(3) == 0 { PEOPLE[0] } else { whom };
        Wish::Act { who, act: ACTS[self.below(ACTS.len())], whom }
    }

    /// Several begin or cease to follow the same, who writes meanwhile.
    pub(super) fn crowd(&mut self) -> Vec<Wish> {
        let whom = self.author();
        let act = if self.dice.below(3) == 0 { Act::Unfollow } else { Act::Follow };
        let mut wishes: Vec<Wish> = PEOPLE
            .into_iter()
            .filter(|who| *who != whom && (act == Act::Follow || self.dice.below(3) > 0))
            .map(|who| Wish::Act { who, act, whom })
            .collect();
        wishes.extend([self.say(whom), Wish::Deliver, self.say(whom)]);
        wishes.push(Wish::Later(Box::new(Wish::Deliver)));
        wishes
    }

    /// The newest posts of somebody go, whom somebody begins to follow.
    pub(super) fn regret(&mut self) -> Vec<Wish> {
        let whom = self.author();
        let mut posts = self.known.posts_of(whom);
        posts.sort_by_key(|note| std::cmp::Reverse(self.known.posts[note].id));
        let gone = posts.into_iter().take(3).map(|note| {
            let id = self.known.posts[&note].id.text();
            Wish::Delete { who: whom, note, id }
        });
        let mut wishes: Vec<Wish> = gone.collect();
        let who = PEOPLE.into_iter().find(|who| *who != whom).unwrap_or(PEOPLE[0]);
        for act in [Act::Unfollow, Act::Follow] {
            wishes.push(Wish::Act { who, act, whom });
        }
        wishes.push(Wish::Later(Box::new(Wish::Deliver)));
        wishes
    }

    /// Two act about each other at the same time, and somebody reads.
    pub(super) fn quarrel(&mut self) -> Vec<Wish> {
        let (one, two) = self.pair();
        let first = [Act::Block, Act::Unblock, Act::Follow][self.below(3)];
        let second = [Act::Follow, Act::Block, Act::Unfollow][self.below(3)];
        vec![
            Wish::Act { who: one, act: first, whom: two },
            Wish::Act { who: two, act: second, whom: one },
            self.read_anew(two, 2),
            Wish::Deliver,
        ]
    }

    /// Somebody likes something, or no longer.
    fn like(&mut self) -> Wish {
        let index = self.below(self.known.likes.len() * 2);
        if let Some((who, note)) = self.known.likes.iter().nth(index).cloned() {
            let id = self.known.posts[&note].id.text();
            return Wish::Like { who, note, id, likes: false };
        }
        let (who, likes) = (self.person(), self.dice.below(6) > 0);
        match self.post(None) {
            Some((note, id)) => Wish::Like { who, note, id, likes },
            None => self.write(),
        }
    }

    fn comment(&mut self) -> Wish {
        let (who, once) = (self.person(), self.named());
        match self.post(None) {
            Some((note, id)) => Wish::Comment { who, note, id, once },
            None => self.write(),
        }
    }

    fn uncomment(&mut self) -> Wish {
        let index = self.below(self.known.remarks.len());
        let Some(remark) = self.known.remarks.get(index).cloned() else { return self.comment() };
        let Some(noted) = self.known.posts.get(&remark.note) else { return self.comment() };
        let id = noted.id.text();
        Wish::Uncomment { who: remark.who, note: remark.note, id, comment: remark.id }
    }

    /// A scroll goes on, or a new one begins.
    pub(super) fn read(&mut self) -> Wish {
        let pages = 1 + self.below(3);
        if !self.scrolls.is_empty() && self.dice.below(2) == 0 {
            let index = self.below(self.scrolls.len());
            return Wish::Read(self.scrolls.remove(index), pages);
        }
        let reader = self.person();
        self.read_anew(reader, pages)
    }

    /// A new scroll takes the place of the one before.
    pub(super) fn read_anew(&mut self, reader: &'static str, pages: usize) -> Wish {
        self.scrolls.retain(|scroll| scroll.reader() != reader);
        let order = ["ranked", "latest"][self.below(2)];
        let limit = [1, 2, 3, 5][self.below(4)];
        Wish::Read(Scroll::new(reader, order, limit), pages)
    }
}
