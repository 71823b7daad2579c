//! Everything that somebody may want of the feed, and what was said to it.

use domain::feed::{Act, Privacy};
use http::Method;
use serde_json::{Value, json};

use super::possible::Span;
use super::scrolls::{Read, Scroll};
use super::watch::{Answered, Watch};

#[derive(Debug, Clone)]
pub(super) enum Wish {
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
        act: Act,
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
    Later(Box<Wish>),
    Deliver,
    Sweep,
    /// Every message that is on its way is lost.
    Lose,
}

/// What was said to it.
#[derive(Debug)]
pub(super) enum Done {
    Nothing,
    /// A definite answer.
    Told {
        wish: Wish,
        status: u16,
        /// The name of what was made.
        made: Option<String>,
        span: Span,
        /// Whether an earlier try may have done something.
        repeated: bool,
    },
    Read(Read),
}

impl Wish {
    pub(super) async fn fulfil(&self, watch: &Watch) -> Result<Done, String> {
        match self {
            Self::Read(scroll, pages) => Ok(Done::Read(scroll.clone().read(watch, *pages).await?)),
            Self::Later(wish) => {
                watch.pause().await;
                Box::pin(wish.fulfil(watch)).await
            }
            Self::Deliver => {
                watch.deliver().await;
                Ok(Done::Nothing)
            }
            Self::Sweep => {
                watch.sweep().await;
                Ok(Done::Nothing)
            }
            Self::Lose => {
                watch.lose_messages();
                Ok(Done::Nothing)
            }
            Self::Write { .. }
            | Self::Edit { .. }
            | Self::Delete { .. }
            | Self::Act { .. }
            | Self::Like { .. }
            | Self::Comment { .. }
            | Self::Uncomment { .. } => self.tell(watch).await,
        }
    }

    async fn tell(&self, watch: &Watch) -> Result<Done, String> {
        let (who, method, path, body, once) = self.call();
        let told = watch.persist(who, (method, &path), &body, once).await?;
        let made = ["postId", "commentId"].map(|name| told.answer.text(name).to_owned());
        let made = &made[usize::from(matches!(self, Self::Comment { .. }))];
        let Answered { span, .. } = told;
        Ok(Done::Told {
            wish: self.clone(),
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
                    Act::Follow => (Method::PUT, "follow"),
                    Act::Unfollow => (Method::DELETE, "follow"),
                    Act::Block => (Method::PUT, "block"),
                    Act::Unblock => (Method::DELETE, "block"),
                    Act::Mute => (Method::PUT, "mute"),
                    Act::Unmute => (Method::DELETE, "mute"),
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
                unreachable!("nobody is called for {self:?}")
            }
        }
    }
}
