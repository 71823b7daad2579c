//! One declaration an operation, beside its handler, and one list a system.
//!
//! The list is walked by [`Routes`], which makes the router of a function, or by
//! [`Document`](crate::openapi::Document), which makes the system's part of the OpenAPI document. No function
//! names the latter, so no schema is linked into a deployed one.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::response::IntoResponse;
use axum::routing::{MethodFilter, MethodRouter};
use domain::accounts::Role;

use super::Problem;
use super::admission::Admission;
use crate::openapi::Documented;

/// Bodies larger than this are refused unless the operation has another limit.
const MAX_BODY: usize = 64 * 1024;

/// Who may call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Public,
    /// Anyone with a valid key; the handler decides what they may see.
    Key,
    /// Holders of a role, and admins.
    Role(Role),
    /// Anyone without a key; a caller with one must have the role.
    Optional(Role),
}

/// One method on one path, and its documentation. Made by `const fn`s, so that it costs nothing at start.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// The method; `GET` answers `HEAD` too.
    pub method: &'static str,
    /// The path, in the template's notation.
    pub path: &'static str,
    /// Its name in metrics and in the OpenAPI document.
    pub id: &'static str,
    /// One line.
    pub summary: &'static str,
    /// More, if there is more to say.
    pub description: &'static str,
    /// Who may call it.
    pub access: Access,
    /// The largest body it takes.
    pub max_body: usize,
    /// The statuses it can refuse with, beside those that follow from its arguments and its access.
    pub error_statuses: &'static [u16],
    /// The statuses when it worked, where they are not the ones of the handler's answer.
    pub statuses: &'static [u16],
    /// The answer's media types where it is not JSON.
    pub media_types: &'static [&'static str],
    /// The body's media type where the handler reads it itself.
    pub body_media_type: Option<&'static str>,
    /// Whether the handler charges the caller's quotas itself, instead of one unit a request.
    pub charges_itself: bool,
}

impl Operation {
    const fn new(
        method: &'static str,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
    ) -> Self {
        Self {
            method,
            path,
            id,
            summary,
            description: "",
            access: Access::Public,
            max_body: MAX_BODY,
            error_statuses: &[],
            statuses: &[],
            media_types: &[],
            body_media_type: None,
            charges_itself: false,
        }
    }

    #[must_use]
    pub const fn get(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("GET", path, id, summary)
    }

    /// Makes something, or does something.
    #[must_use]
    pub const fn post(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("POST", path, id, summary)
    }

    /// Makes or replaces the thing at the path.
    #[must_use]
    pub const fn put(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("PUT", path, id, summary)
    }

    /// Changes a part of the thing at the path.
    #[must_use]
    pub const fn patch(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("PATCH", path, id, summary)
    }

    /// Removes the thing at the path.
    #[must_use]
    pub const fn delete(path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self::new("DELETE", path, id, summary)
    }

    /// Says more than the summary.
    #[must_use]
    pub const fn description(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    /// Only for holders of a role, and admins.
    #[must_use]
    pub const fn role(mut self, role: Role) -> Self {
        self.access = Access::Role(role);
        self
    }

    /// Only for callers with a valid key.
    #[must_use]
    pub const fn key(mut self) -> Self {
        self.access = Access::Key;
        self
    }

    /// For anyone without a key; a caller with one must have the role.
    #[must_use]
    pub const fn role_or_anonymous(mut self, role: Role) -> Self {
        self.access = Access::Optional(role);
        self
    }

    /// Takes bodies up to `bytes`.
    #[must_use]
    pub const fn body_up_to(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Leaves it to the handler to charge the caller's quotas, with [`Call::charge`](super::Call::charge).
    #[must_use]
    pub const fn charges_itself(mut self) -> Self {
        self.charges_itself = true;
        self
    }

    /// Statuses it refuses with that neither its arguments nor its access say.
    #[must_use]
    pub const fn refuses(mut self, statuses: &'static [u16]) -> Self {
        self.error_statuses = statuses;
        self
    }

    /// The statuses when it worked, where the type of the handler's answer does not say them.
    #[must_use]
    pub const fn statuses(mut self, statuses: &'static [u16]) -> Self {
        self.statuses = statuses;
        self
    }

    /// The answer's media types, where it is not JSON.
    #[must_use]
    pub const fn media(mut self, types: &'static [&'static str]) -> Self {
        self.media_types = types;
        self
    }

    /// The body's media type, where the handler reads it itself.
    #[must_use]
    pub const fn reads(mut self, media: &'static str) -> Self {
        self.body_media_type = Some(media);
        self
    }

    fn filter(&self) -> MethodFilter {
        match self.method {
            "POST" => MethodFilter::POST,
            "PUT" => MethodFilter::PUT,
            "PATCH" => MethodFilter::PATCH,
            "DELETE" => MethodFilter::DELETE,
            _ => MethodFilter::GET,
        }
    }
}

/// Takes a system's list of operations, over the state `S` that the handlers share.
pub trait Operations<S> {
    /// The next operation of the list, and its handler.
    fn on<Arguments, Described, H>(&mut self, operation: Operation, handler: H)
    where
        H: Handler<Arguments, Arc<S>> + Documented<Described>,
        Arguments: 'static;
}

/// The router that a function is made of.
#[derive(Debug)]
pub struct Routes<S> {
    admission: Arc<Admission>,
    paths: Vec<Methods<S>>,
    needs_identity: bool,
    fallback: Fallback<S>,
}

/// The problem at a path that no operation takes.
type Fallback<S> = fn(&S, &str) -> Problem;

#[derive(Debug)]
struct Methods<S> {
    path: &'static str,
    names: Vec<&'static str>,
    router: MethodRouter<Arc<S>>,
}

impl<S: Send + Sync + 'static> Routes<S> {
    pub(super) fn new(admission: Arc<Admission>) -> Self {
        let fallback: Fallback<S> = |_, path| Problem::unknown_path(path);
        Self { admission, paths: Vec::new(), needs_identity: false, fallback }
    }

    /// The problem at a path that no operation takes, instead of the plain 404.
    pub fn fallback(&mut self, fallback: Fallback<S>) {
        self.fallback = fallback;
    }

    /// Whether any operation needs to know the caller.
    pub(super) const fn need_identity(&self) -> bool {
        self.needs_identity
    }

    pub(super) fn finish(self, state: Arc<S>) -> Router {
        let mut router = Router::new();
        for Methods { path, names, router: methods } in self.paths {
            let admission = Arc::clone(&self.admission);
            let method_not_allowed = move |request: Request| async move {
                admission.charge_unmatched(&request.into_parts().0).await?;
                Err::<(), _>(Problem::method_not_allowed(names))
            };
            router = router.route(path, methods.fallback(method_not_allowed));
        }
        let (admission, fallback) = (self.admission, self.fallback);
        let not_found = move |State(state): State<Arc<S>>, request: Request| async move {
            let path = admission.charge_unmatched(&request.into_parts().0).await?;
            Err::<(), _>(fallback(&state, &path))
        };
        router.fallback(not_found).with_state(state)
    }
}

impl<S: Send + Sync + 'static> Operations<S> for Routes<S> {
    fn on<Arguments, Described, H>(&mut self, operation: Operation, handler: H)
    where
        H: Handler<Arguments, Arc<S>> + Documented<Described>,
        Arguments: 'static,
    {
        self.needs_identity |= operation.access != Access::Public;
        let admission = Arc::clone(&self.admission);
        let answer = move |State(state): State<Arc<S>>, request: Request| async move {
            let (mut parts, body) = request.into_parts();
            match admission.admit(&operation, &mut parts).await {
                Ok(()) => handler.call(Request::from_parts(parts, body), state).await,
                Err(problem) => problem.into_response(),
            }
        };
        let index = self.paths.iter().position(|methods| methods.path == operation.path);
        let index = index.unwrap_or_else(|| {
            let (path, names) = (operation.path, Vec::new());
            self.paths.push(Methods { path, names, router: MethodRouter::new() });
            self.paths.len() - 1
        });
        let methods = &mut self.paths[index];
        methods.names.push(operation.method);
        let router = std::mem::take(&mut methods.router);
        methods.router = router.on(operation.filter(), answer);
    }
}
