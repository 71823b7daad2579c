//! Collecting a function's operations.

use std::fmt;
use std::sync::Arc;

use http::Method;

use super::{Access, Api, Handler, Operation, Shared};
use crate::identity::Identity;
use crate::limits::Limiter;
use crate::{Host, Misconfigured};

/// Bodies larger than this are refused unless the operation says otherwise.
const BODY_CAP: usize = 64 * 1024;

/// Collects operations; [`Builder::build`] makes an [`Api`] of them.
pub struct Builder<S> {
    operations: Vec<Operation<S>>,
    unclaimed: Option<Handler<S>>,
}

impl<S> fmt::Debug for Builder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.operations).finish()
    }
}

impl<S> Default for Builder<S> {
    fn default() -> Self {
        Self { operations: Vec::new(), unclaimed: None }
    }
}

impl<S: Send + Sync + 'static> Builder<S> {
    /// Adds an operation.
    #[must_use]
    pub fn on(
        mut self,
        method: Method,
        path: &'static str,
        id: &'static str,
        access: Access,
        handler: Handler<S>,
    ) -> Self {
        let (body_cap, metered) = (BODY_CAP, false);
        self.operations.push(Operation { method, path, id, access, body_cap, metered, handler });
        self
    }

    /// Leaves it to the handler of the operation that was added last to say how many units of a quota
    /// it takes, with [`Request::charge`].
    #[must_use]
    pub fn metered(mut self) -> Self {
        if let Some(operation) = self.operations.last_mut() {
            operation.metered = true;
        }
        self
    }

    /// Lets the operation that was added last take bodies up to `bytes`.
    #[must_use]
    pub fn taking(mut self, bytes: usize) -> Self {
        if let Some(operation) = self.operations.last_mut() {
            operation.body_cap = bytes;
        }
        self
    }

    /// Answers paths that no operation has, instead of a plain 404.
    #[must_use]
    pub fn unclaimed(mut self, handler: Handler<S>) -> Self {
        self.unclaimed = Some(handler);
        self
    }

    /// The API on `host`. Identity is set up only where an operation asks who is calling.
    pub fn build(self, host: &Host, state: S) -> Result<Api<S>, Misconfigured> {
        let mut by_path: Vec<(&'static str, Vec<usize>)> = Vec::new();
        for (index, operation) in self.operations.iter().enumerate() {
            match by_path.iter_mut().find(|(path, _)| *path == operation.path) {
                Some((_, indices)) => indices.push(index),
                None => by_path.push((operation.path, vec![index])),
            }
        }
        let mut paths = matchit::Router::new();
        for (path, indices) in by_path {
            paths.insert(path, indices).map_err(|clash| Misconfigured {
                name: path.to_owned(),
                problem: format!("is not a path that can be routed: {clash}"),
            })?;
        }
        let private = self.operations.iter().any(|operation| operation.access != Access::Public);
        Ok(Api {
            shared: Arc::new(Shared {
                state,
                operations: self.operations,
                paths,
                unclaimed: self.unclaimed,
                identity: private.then(|| Identity::on(host)).transpose()?,
                limiter: Arc::new(Limiter::on(host)?),
                behind_cloudfront: host.behind_cloudfront()?,
                clock: host.clock.clone(),
                entropy: host.entropy.clone(),
                log: host.log.clone(),
                stage: host.vars.optional("STAGE").unwrap_or("local").to_owned(),
            }),
        })
    }
}
