//! The actions of the scenario, and their outcomes.

use domain::feed::{Privacy, SocialAction};
use http::Method;
use serde_json::{Value, json};
use tests::Result;

use super::harness::{Answered, Harness};
use super::interleavings::Span;
use super::scrolls::{Read, Scroll};

#[derive(Debug, Clone)]
pub(super) enum Action {
    /// A post, by a word of its own; maybe one that passes another one on.
    Write {
        who: &'static str,
        note: String,
        privacy: Privacy,
        shares: Option<(String, String)>,
    },
    Edit {
        who: &'static str,
        note: String,
        id: String,
        privacy: Privacy,
    },
    Delete {
        who: &'static str,
        note: String,
        id: String,
    },
    Act {
        who: &'static str,
        act: SocialAction,
        whom: &'static str,
    },
    Like {
        who: &'static str,
        note: String,
        id: String,
        likes: bool,
    },
    Comment {
        who: &'static str,
        note: String,
        id: String,
        once: String,
    },
    Uncomment {
        who: &'static str,
        note: String,
        id: String,
        comment: String,
    },
    Read(Scroll, usize),
    /// The same after a while.
    Later(Box<Action>),
    Deliver,
    Sweep,
    /// Every message that is on its way is lost.
    Lose,
}

#[derive(Debug)]
pub(super) enum Outcome {
    Nothing,
    Answered {
        action: Action,
        status: u16,
        made: Option<String>,
        span: Span,
        /// Whether an earlier try may have done something.
        repeated: bool,
    },
    Read(Read),
}

impl Action {
    pub(super) async fn run(&self, harness: &Harness) -> Result<Outcome> {
        match self {
            Self::Read(scroll, pages) => {
                Ok(Outcome::Read(scroll.clone().read(harness, *pages).await?))
            }
            Self::Later(action) => {
                harness.pause().await;
                Box::pin(action.run(harness)).await
            }
            Self::Deliver => {
                harness.deliver().await;
                Ok(Outcome::Nothing)
            }
            Self::Sweep => {
                harness.lab.run_schedule("SweepFeed").await;
                Ok(Outcome::Nothing)
            }
            Self::Lose => {
                harness.lose_messages();
                Ok(Outcome::Nothing)
            }
            Self::Write { .. }
            | Self::Edit { .. }
            | Self::Delete { .. }
            | Self::Act { .. }
            | Self::Like { .. }
            | Self::Comment { .. }
            | Self::Uncomment { .. } => self.tell(harness).await,
        }
    }

    async fn tell(&self, harness: &Harness) -> Result<Outcome> {
        let (who, method, path, body, once) = self.call();
        let told = harness.persist(who, (method, &path), &body, once).await?;
        let made = ["postId", "commentId"].map(|name| told.answer.text(name).to_owned());
        let made = &made[usize::from(matches!(self, Self::Comment { .. }))];
        let Answered { span, .. } = told;
        Ok(Outcome::Answered {
            action: self.clone(),
            status: told.status(),
            made: (told.status() == 201).then(|| made.clone()),
            span,
            repeated: told.was_repeated(),
        })
    }

    /// Who calls what, with which body and which name for repeats.
    fn call(&self) -> (&'static str, Method, String, Value, Option<&str>) {
        let post = |id: &str| format!("/api/v1/posts/{id}");
        match self {
            Self::Write { who, note, privacy, shares } => {
                let path = match shares {
                    Some((_, id)) => format!("{}/share", post(id)),
                    None => "/api/v1/posts".to_owned(),
                };
                let body = json!({ "text": note, "privacy": privacy.name() });
                (*who, Method::POST, path, body, Some(note))
            }
            Self::Edit { who, id, privacy, .. } => {
                (*who, Method::PATCH, post(id), json!({ "privacy": privacy.name() }), None)
            }
            Self::Delete { who, id, .. } => (*who, Method::DELETE, post(id), Value::Null, None),
            Self::Act { who, act, whom } => {
                let (method, name) = match act {
                    SocialAction::Follow => (Method::PUT, "follow"),
                    SocialAction::Unfollow => (Method::DELETE, "follow"),
                    SocialAction::Block => (Method::PUT, "block"),
                    SocialAction::Unblock => (Method::DELETE, "block"),
                    SocialAction::Mute => (Method::PUT, "mute"),
                    SocialAction::Unmute => (Method::DELETE, "mute"),
                };
                (*who, method, format!("/api/v1/users/{whom}/{name}"), Value::Null, None)
            }
            Self::Like { who, id, likes, .. } => {
                let method = if *likes { Method::PUT } else { Method::DELETE };
                (*who, method, format!("{}/like", post(id)), Value::Null, None)
            }
            Self::Comment { who, id, once, .. } => {
                let path = format!("{}/comments", post(id));
                (*who, Method::POST, path, json!({ "text": once }), Some(once))
            }
            Self::Uncomment { who, id, comment, .. } => {
                let path = format!("{}/comments/{comment}", post(id));
                (*who, Method::DELETE, path, Value::Null, None)
            }
            Self::Read(..) | Self::Later(_) | Self::Deliver | Self::Sweep | Self::Lose => {
                unreachable!("no request for {self:?}")
            }
        }
    }
}
