//! From what was said to what is known: each answer must be one that may be given.

use domain::feed::{Act, Place, PostId, Rejected};

use super::Life;
use super::known::{Noted, Remark, Sight};
use super::possible::{Happened, Move, Span, Stage, Turn};
use super::scrolls::Read;
use super::watch::person;
use super::wishes::{Done, Wish};

impl Life {
    /// Takes in everything that was said in a step: first what changes something, then what was read by
    /// what may have been.
    pub(super) async fn note(&mut self, all: Vec<Done>) -> Result<(), String> {
        let (mut told, mut reads): (Vec<Done>, Vec<Read>) = (Vec::new(), Vec::new());
        for done in all {
            match done {
                Done::Read(read) => reads.push(read),
                Done::Told { .. } => {
                    self.note_change(&done)?;
                    told.push(done);
                }
                Done::Nothing => {}
            }
        }
        for done in &told {
            self.note_answer(done).await?;
        }
        for scroll in &mut self.scrolls {
            scroll.passes(&self.known, Span::since(0));
        }
        for read in reads {
            if let Some(scroll) = read.hold(&self.known)? {
                self.scrolls.push(scroll);
            }
        }
        self.known.close(&self.watch).await
    }

    /// What may have changed who sees what.
    fn note_change(&mut self, done: &Done) -> Result<(), String> {
        let Done::Told { wish, status, made, span, .. } = done else { return Ok(()) };
        let expect = |fine: &[u16]| {
            let is_fine = fine.contains(status);
            if is_fine { Ok(()) } else { Err(format!("{wish:?} was answered {status}")) }
        };
        let known = &mut self.known;
        let mut turn = |note: &String, what| {
            known.turns.push((note.clone(), Happened { what, span: *span }));
        };
        match wish {
            Wish::Write { who, note, privacy, shares } => {
                let refused: &[u16] = if shares.is_some() { &[201, 404, 409, 422] } else { &[201] };
                expect(refused)?;
                let Some(id) = made.as_deref().and_then(PostId::parse) else { return Ok(()) };
                turn(note, Turn::Written(*privacy));
                // Who passes on what was passed on passes on the first.
                let shares = shares.as_ref().map(|(named, _)| {
                    let first = known.posts.get(named).and_then(|named| named.shares.clone());
                    first.unwrap_or_else(|| named.clone())
                });
                let (author, stage) = (person(who), Stage::Unborn);
                known.posts.insert(note.clone(), Noted { id, author, stage, shares });
            }
            Wish::Edit { note, privacy, .. } => {
                expect(&[200, 404])?;
                turn(note, Turn::Edited(*privacy));
            }
            Wish::Delete { note, .. } => {
                expect(&[204])?;
                turn(note, Turn::Deleted);
            }
            Wish::Act { who, act, whom } => {
                expect(if *act == Act::Follow { &[200, 404, 409] } else { &[200] })?;
                let what = Move { me: person(who), act: *act, other: person(whom) };
                known.moves.push(Happened { what, span: *span });
            }
            Wish::Like { .. }
            | Wish::Comment { .. }
            | Wish::Uncomment { .. }
            | Wish::Read(..)
            | Wish::Later(_)
            | Wish::Deliver
            | Wish::Sweep
            | Wish::Lose => {}
        }
        Ok(())
    }

    /// Whether that is what they had to be told, and what else follows from it.
    async fn note_answer(&mut self, done: &Done) -> Result<(), String> {
        let Done::Told { wish, status, made, span, repeated } = done else { return Ok(()) };
        match wish {
            Wish::Act { who, act: Act::Follow, whom } => {
                let (me, other) = (person(who), person(whom));
                let ties = self.known.ties(&me, &other, *span);
                let answer = |tie: &domain::feed::Tie| match tie.after(Act::Follow, &me, &other, 0)
                {
                    Ok(_) => 200,
                    Err(Rejected::Blocked) => 409,
                    Err(_) => 404,
                };
                if !ties.iter().any(|tie| answer(tie) == *status) {
                    return Err(format!("{wish:?} was answered {status}: {ties:?}"));
                }
            }
            Wish::Edit { note, .. }
                if *status == 404 && !self.known.stages(note, *span).contains(&Stage::Gone) =>
            {
                return Err(format!("{wish:?} was answered 404"));
            }
            Wish::Like { who, note, likes, .. } => {
                self.hold_sight(wish, who, note, *status, *span)?;
                let liked = match status {
                    200 => *likes,
                    _ if *repeated => self.likes(who, note).await,
                    _ => return Ok(()),
                };
                let pair = (*who, note.clone());
                let _ = if liked {
                    self.known.likes.insert(pair)
                } else {
                    self.known.likes.remove(&pair)
                };
            }
            Wish::Comment { who, note, .. } => {
                self.hold_sight(wish, who, note, *status, *span)?;
                if let Some(id) = made.clone() {
                    self.known.remarks.push(Remark { id, who, note: note.clone() });
                }
            }
            // It is theirs to take back, whatever has become of the post.
            Wish::Uncomment { comment, .. } => {
                if *status != 204 {
                    return Err(format!("{wish:?} was answered {status}"));
                }
                self.known.remarks.retain(|remark| remark.id != *comment);
            }
            Wish::Write { .. }
            | Wish::Edit { .. }
            | Wish::Delete { .. }
            | Wish::Act { .. }
            | Wish::Read(..)
            | Wish::Later(_)
            | Wish::Deliver
            | Wish::Sweep
            | Wish::Lose => {}
        }
        Ok(())
    }

    /// Who may see a post can do something about it, and nobody else.
    fn hold_sight(
        &self,
        wish: &Wish,
        who: &str,
        note: &str,
        status: u16,
        span: Span,
    ) -> Result<(), String> {
        let sight = self.known.sight(&person(who), note, Place::Direct, span);
        let is_done = matches!(status, 200 | 201 | 204);
        let is_right = match sight {
            Sight::Surely => is_done,
            Sight::Never => status == 404,
            Sight::Perhaps => is_done || status == 404,
        };
        if is_right { Ok(()) } else { Err(format!("{wish:?} was answered {status}: {sight:?}")) }
    }

    async fn likes(&self, who: &str, note: &str) -> bool {
        let Some(noted) = self.known.posts.get(note) else { return false };
        let company = self.watch.store.company(&person(who), [], [noted.id]).await.unwrap();
        company.engaged.get(&noted.id).is_some_and(|engaged| engaged.likes)
    }
}
