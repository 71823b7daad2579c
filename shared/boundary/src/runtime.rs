//! From a process to a function: what every `main.rs` calls.

mod after_response;
mod shutdown;

use futures::future::BoxFuture;
use lambda_http::LambdaEvent;
use lambda_http::request::LambdaRequest;
use lambda_http::{Adapter, Service};
use lambda_runtime::{Context, Runtime, service_fn};

use crate::batch::Consumer;
use crate::edge::{Edge, Phase};
use crate::http::Api;
use crate::schedule::Task;
use crate::socket::Socket;
use crate::{Host, Misconfigured};
use after_response::AfterResponse;
use shutdown::Shutdown;

/// An invocation besides its event.
#[derive(Debug, Clone, Default)]
pub struct Invocation {
    /// Names the invocation in logs.
    pub request_id: String,
    /// When the function will be stopped: milliseconds since 1970.
    pub deadline_ms: u64,
}

/// A function as Lambda's runtime and the local cloud run it.
pub trait Function: Send + Sync {
    /// Answers one invocation given as event JSON, exactly as the Lambda runtime would.
    fn invoke<'a>(
        &'a self,
        event: &'a [u8],
        invocation: Invocation,
    ) -> BoxFuture<'a, Result<Vec<u8>, String>>;

    /// Runs once the response is out and before the next invocation.
    fn after_response(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Runs in the last half second of an environment.
    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Runs an HTTP function until Lambda ends the process.
pub fn run_http(
    function: impl FnOnce(&Host) -> Result<Api, Misconfigured>,
) -> Result<(), lambda_runtime::Error> {
    block_on(async {
        let host = Host::lambda()?;
        let api = function(&host)?;
        let shutdown = Shutdown::register(host.vars.optional("AWS_LAMBDA_RUNTIME_API")).await;
        api.warm().await;
        let served = api.clone();
        let runtime = lambda_http::runtime(service_fn(move |event| {
            let api = served.clone();
            async move { Ok::<_, std::convert::Infallible>(api.handle(event).await) }
        }))
        .layer(AfterResponse::new(&api));
        run_until_shutdown(runtime.run(), shutdown, &api).await
    })
}

/// Runs a function with a hot path until Lambda ends the process: what it does after a response is
/// done before the next event is asked for, because Lambda freezes environments only then.
pub fn run_edge<S: Send + Sync + 'static>(
    function: impl FnOnce(&Host) -> Result<Edge<S>, Misconfigured>,
) -> Result<(), lambda_runtime::Error> {
    block_on(async {
        let host = Host::lambda()?;
        let edge = function(&host)?;
        let shutdown = Shutdown::register(host.vars.optional("AWS_LAMBDA_RUNTIME_API")).await;
        edge.run_phase(Phase::Start).await;
        let served = edge.clone();
        let runtime = Runtime::new(service_fn(move |event: LambdaEvent<_>| {
            let edge = served.clone();
            async move { Ok::<_, std::convert::Infallible>(edge.handle(event.payload).await) }
        }))
        .layer(AfterResponse::new(&edge));
        run_until_shutdown(runtime.run(), shutdown, &edge).await
    })
}

/// Answers until the environment ends, and uses the half second that is left then.
async fn run_until_shutdown(
    answering: impl Future<Output = Result<(), lambda_runtime::Error>>,
    mut shutdown: Shutdown,
    function: &impl Function,
) -> Result<(), lambda_runtime::Error> {
    tokio::select! {
        ended = answering => ended,
        () = shutdown.signalled() => {
            shutdown::within_grace(function.shutdown()).await;
            Ok(())
        }
    }
}

/// Runs a queue function until Lambda ends the process.
pub fn run_queue<S: Send + Sync + 'static>(
    function: impl FnOnce(&Host) -> Result<Consumer<S>, Misconfigured>,
) -> Result<(), lambda_runtime::Error> {
    block_on(async {
        let consumer = function(&Host::lambda()?)?;
        lambda_runtime::run(service_fn(move |event: LambdaEvent<_>| {
            let consumer = consumer.clone();
            async move {
                Ok::<_, std::convert::Infallible>(
                    consumer.handle(event.payload, event.context.deadline).await,
                )
            }
        }))
        .await
    })
}

/// Runs a scheduled function until Lambda ends the process.
pub fn run_schedule<S: Send + Sync + 'static>(
    function: impl FnOnce(&Host) -> Result<Task<S>, Misconfigured>,
) -> Result<(), lambda_runtime::Error> {
    block_on(async {
        let task = function(&Host::lambda()?)?;
        lambda_runtime::run(service_fn(move |_: LambdaEvent<serde_json::Value>| {
            let task = task.clone();
            async move { task.handle().await }
        }))
        .await
    })
}

/// Runs a function behind a WebSocket API until Lambda ends the process.
pub fn run_socket<S: Send + Sync + 'static>(
    function: impl FnOnce(&Host) -> Result<Socket<S>, Misconfigured>,
) -> Result<(), lambda_runtime::Error> {
    block_on(async {
        let socket = function(&Host::lambda()?)?;
        lambda_runtime::run(service_fn(move |event: LambdaEvent<_>| {
            let socket = socket.clone();
            async move { socket.handle(event.payload).await }
        }))
        .await
    })
}

/// An environment serves one invocation at a time, so one thread is all a function can use.
fn block_on(
    work: impl Future<Output = Result<(), lambda_runtime::Error>>,
) -> Result<(), lambda_runtime::Error> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

impl Function for Api {
    fn invoke<'a>(
        &'a self,
        event: &'a [u8],
        invocation: Invocation,
    ) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(invoke_http(self.clone(), event, invocation))
    }

    fn after_response(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.after_response())
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.shutdown())
    }
}

impl<S: Send + Sync + 'static> Function for Consumer<S> {
    fn invoke<'a>(
        &'a self,
        event: &'a [u8],
        invocation: Invocation,
    ) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(async move {
            let event = serde_json::from_slice(event).map_err(|error| error.to_string())?;
            serde_json::to_vec(&self.handle(event, invocation.deadline_ms).await)
                .map_err(|error| error.to_string())
        })
    }
}

impl<S: Send + Sync + 'static> Function for Task<S> {
    fn invoke<'a>(&'a self, _: &'a [u8], _: Invocation) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(async move { Ok(self.handle().await?.to_string().into_bytes()) })
    }
}

impl<S: Send + Sync + 'static> Function for Socket<S> {
    fn invoke<'a>(
        &'a self,
        event: &'a [u8],
        _: Invocation,
    ) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(async move {
            let event = serde_json::from_slice(event).map_err(|error| error.to_string())?;
            Ok(self.handle(event).await?.to_string().into_bytes())
        })
    }
}

/// What `lambda_http::run` does between the runtime API's JSON in and its JSON out.
async fn invoke_http(api: Api, event: &[u8], invocation: Invocation) -> Result<Vec<u8>, String> {
    let payload: LambdaRequest = serde_json::from_slice(event).map_err(|e| e.to_string())?;
    let mut context = Context::default();
    context.request_id = invocation.request_id;
    context.deadline = invocation.deadline_ms;
    let mut service = Adapter::from(service_fn(move |event| {
        let api = api.clone();
        async move { Ok::<_, std::convert::Infallible>(api.handle(event).await) }
    }));
    let response = match service.call(LambdaEvent::new(payload, context)).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    serde_json::to_vec(&response).map_err(|error| error.to_string())
}
