//! The hook between an answer and the next event.
//!
//! A layer on the runtime wraps the posting of the answer, so what follows it runs when the caller
//! has the answer and before the runtime asks for the next event, which is when Lambda freezes the
//! environment. It costs no call to the runtime API. See docs/adr/0007-after-the-answer.md.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use lambda_runtime::tower::{Layer, Service};
use lambda_runtime::{Error, LambdaInvocation};

use crate::edge::{Edge, Moment};

/// Puts a function's work after each answer.
pub(super) struct AfterAnswer<S>(Edge<S>);

impl<S: Send + Sync + 'static> AfterAnswer<S> {
    pub(super) fn of(edge: &Edge<S>) -> Self {
        Self(edge.clone())
    }
}

impl<S, Inner> Layer<Inner> for AfterAnswer<S> {
    type Service = Posting<S, Inner>;

    fn layer(&self, inner: Inner) -> Self::Service {
        Posting { edge: self.0.clone(), inner }
    }
}

/// Answers and posts with `inner`, then does the rest.
pub(super) struct Posting<S, Inner> {
    edge: Edge<S>,
    inner: Inner,
}

impl<S, Inner> Service<LambdaInvocation> for Posting<S, Inner>
where
    S: Send + Sync + 'static,
    Inner: Service<LambdaInvocation, Response = (), Error = Error>,
    Inner::Future: 'static,
{
    type Response = ();
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<(), Error>>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, invocation: LambdaInvocation) -> Self::Future {
        let posted = self.inner.call(invocation);
        let edge = self.edge.clone();
        Box::pin(async move {
            let posted = posted.await;
            edge.meanwhile(Moment::AfterAnswer).await;
            posted
        })
    }
}

#[cfg(test)]
mod tests;
