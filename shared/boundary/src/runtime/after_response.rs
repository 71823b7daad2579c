//! The hook between a response and the next event.
//!
//! A layer on the runtime wraps the posting of the response, so what follows it runs when the caller
//! has the response and before the runtime asks for the next event, which is when Lambda freezes the
//! environment. It costs no call to the runtime API. See docs/adr/0007-after-the-answer.md.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use lambda_runtime::tower::{Layer, Service};
use lambda_runtime::{Error, LambdaInvocation};

use crate::Function;

/// Runs a function's [`Function::after_response`] after each response.
pub(super) struct AfterResponse<F>(F);

impl<F: Function + Clone + 'static> AfterResponse<F> {
    pub(super) fn new(function: &F) -> Self {
        Self(function.clone())
    }
}

impl<F: Clone, Inner> Layer<Inner> for AfterResponse<F> {
    type Service = PostThenRun<F, Inner>;

    fn layer(&self, inner: Inner) -> Self::Service {
        PostThenRun { function: self.0.clone(), inner }
    }
}

/// Handles the event and posts the response with `inner`, then runs what is left to do.
pub(super) struct PostThenRun<F, Inner> {
    function: F,
    inner: Inner,
}

impl<F, Inner> Service<LambdaInvocation> for PostThenRun<F, Inner>
where
    F: Function + Clone + 'static,
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
        let function = self.function.clone();
        Box::pin(async move {
            let posted = posted.await;
            function.after_response().await;
            posted
        })
    }
}

#[cfg(test)]
mod tests;
