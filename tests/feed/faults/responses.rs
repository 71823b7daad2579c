//! Checks each response against the model, and records what it acknowledges.

use domain::feed::{PostId, Rejected, SocialAction, ViewContext};
use tests::Result;

use super::Scenario;
use super::actions::{Action, Outcome};
use super::harness::person;
use super::interleavings::{PostEvent, PostStage, RelationshipEvent, Span, Timed};
use super::model::{ModelComment, ModelPost, Visibility};
use super::scrolls::Read;

impl Scenario {
    /// Takes in everything that was said in a step: first what changes something, then what was read by
    /// what may have been.
    pub(super) async fn record(&mut self, all: Vec<Outcome>) -> Result {
        let (mut told, mut reads): (Vec<Outcome>, Vec<Read>) = (Vec::new(), Vec::new());
        for done in all {
            match done {
                Outcome::Read(read) => reads.push(read),
                Outcome::Answered { .. } => {
                    self.record_change(&done)?;
                    told.push(done);
                }
                Outcome::Nothing => {}
            }
        }
        for done in &told {
            self.check_response(done).await?;
        }
        for scroll in &mut self.scrolls {
            scroll.passes(&self.known, Span::since(0));
        }
        for read in reads {
            if let Some(scroll) = read.check(&self.known)? {
                self.scrolls.push(scroll);
            }
        }
        self.known.close(&self.harness).await
    }

    /// What may have changed who sees what.
    fn record_change(&mut self, done: &Outcome) -> Result {
        let Outcome::Answered { action, status, made, span, .. } = done else { return Ok(()) };
        let expect = |fine: &[u16]| {
            let is_fine = fine.contains(status);
            if is_fine { Ok(()) } else { Err(format!("{action:?} was answered {status}")) }
        };
        let known = &mut self.known;
        let mut turn = |note: &String, what| {
            known.turns.push((note.clone(), Timed { what, span: *span }));
        };
        match action {
            Action::Write { who, note, privacy, shares } => {
                let refused: &[u16] = if shares.is_some() { &[201, 404, 409, 422] } else { &[201] };
                expect(refused)?;
                let Some(id) = made.as_deref().and_then(PostId::parse) else { return Ok(()) };
                turn(note, PostEvent::Written(*privacy));
                // Who passes on what was passed on passes on the first.
                let shares = shares.as_ref().map(|(named, _)| {
                    let first = known.posts.get(named).and_then(|named| named.shares.clone());
                    first.unwrap_or_else(|| named.clone())
                });
                let (author, stage) = (person(who), PostStage::Unborn);
                known.posts.insert(note.clone(), ModelPost { id, author, stage, shares });
            }
            Action::Edit { note, privacy, .. } => {
                expect(&[200, 404])?;
                turn(note, PostEvent::Edited(*privacy));
            }
            Action::Delete { note, .. } => {
                expect(&[204])?;
                turn(note, PostEvent::Deleted);
            }
            Action::Act { who, act, whom } => {
                expect(if *act == SocialAction::Follow { &[200, 404, 409] } else { &[200] })?;
                let what = RelationshipEvent { me: person(who), act: *act, other: person(whom) };
                known.moves.push(Timed { what, span: *span });
            }
            Action::Like { .. }
            | Action::Comment { .. }
            | Action::Uncomment { .. }
            | Action::Read(..)
            | Action::Later(_)
            | Action::Deliver
            | Action::Sweep
            | Action::Lose => {}
        }
        Ok(())
    }

    /// Whether that is what they had to be told, and what else follows from it.
    async fn check_response(&mut self, done: &Outcome) -> Result {
        let Outcome::Answered { action, status, made, span, repeated } = done else {
            return Ok(());
        };
        match action {
            Action::Act { who, act: SocialAction::Follow, whom } => {
                let (me, other) = (person(who), person(whom));
                let relationships = self.known.relationships(&me, &other, *span);
                let answer = |relationship: &domain::feed::Relationship| match relationship.apply(
                    SocialAction::Follow,
                    &me,
                    &other,
                    0,
                ) {
                    Ok(_) => 200,
                    Err(Rejected::Blocked) => 409,
                    Err(_) => 404,
                };
                if !relationships.iter().any(|relationship| answer(relationship) == *status) {
                    return Err(format!("{action:?} was answered {status}: {relationships:?}"));
                }
            }
            Action::Edit { note, .. }
                if *status == 404 && !self.known.stages(note, *span).contains(&PostStage::Gone) =>
            {
                return Err(format!("{action:?} was answered 404"));
            }
            Action::Like { who, note, likes, .. } => {
                self.check_sight(action, who, note, *status, *span)?;
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
            Action::Comment { who, note, .. } => {
                self.check_sight(action, who, note, *status, *span)?;
                if let Some(id) = made.clone() {
                    self.known.remarks.push(ModelComment { id, who, note: note.clone() });
                }
            }
            // It is theirs to take back, also if the post is gone.
            Action::Uncomment { comment, .. } => {
                if *status != 204 {
                    return Err(format!("{action:?} was answered {status}"));
                }
                self.known.remarks.retain(|remark| remark.id != *comment);
            }
            Action::Write { .. }
            | Action::Edit { .. }
            | Action::Delete { .. }
            | Action::Act { .. }
            | Action::Read(..)
            | Action::Later(_)
            | Action::Deliver
            | Action::Sweep
            | Action::Lose => {}
        }
        Ok(())
    }

    /// Only users who may see a post can act on it.
    fn check_sight(
        &self,
        action: &Action,
        who: &str,
        note: &str,
        status: u16,
        span: Span,
    ) -> Result {
        let sight = self.known.sight(&person(who), note, ViewContext::Direct, span);
        let is_done = matches!(status, 200 | 201 | 204);
        let is_right = match sight {
            Visibility::Surely => is_done,
            Visibility::Never => status == 404,
            Visibility::Perhaps => is_done || status == 404,
        };
        if is_right { Ok(()) } else { Err(format!("{action:?} was answered {status}: {sight:?}")) }
    }

    async fn likes(&self, who: &str, note: &str) -> bool {
        let Some(noted) = self.known.posts.get(note) else { return false };
        let context = self.harness.store.post_context(&person(who), [], [noted.id]).await.unwrap();
        context.engagements.get(&noted.id).is_some_and(|engaged| engaged.likes)
    }
}
