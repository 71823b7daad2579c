//! From a process to a function: what every `main.rs` calls.

use lambda_http::LambdaEvent;
use lambda_http::request::LambdaRequest;
use lambda_http::{Adapter, Service};
use lambda_runtime::{Context, service_fn};

use crate::batch::Consumer;
use crate::http::Api;
use crate::schedule::Task;
use crate::{Host, Misconfigured};

/// What a caller of `invoke` knows of an invocation besides its event.
#[derive(Debug, Clone, Default)]
pub struct Invocation {
    /// Names the invocation in logs.
    pub request_id: String,
    /// When the function will be stopped: milliseconds since 1970.
    pub deadline_ms: u64,
}

/// Runs an HTTP function until Lambda ends the process.
pub fn run_http<S: Send + Sync + 'static>(
    function: impl FnOnce(&Host) -> Result<Api<S>, Misconfigured>,
) -> Result<(), lambda_runtime::Error> {
    block_on(async {
        let api = function(&Host::lambda()?)?;
        api.warm().await;
        lambda_http::run(service_fn(move |event| {
            let api = api.clone();
            async move { Ok::<_, std::convert::Infallible>(api.handle(event).await) }
        }))
        .await
    })
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

/// An environment serves one invocation at a time, so one thread is all a function can use.
fn block_on(
    work: impl Future<Output = Result<(), lambda_runtime::Error>>,
) -> Result<(), lambda_runtime::Error> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

/// What `lambda_http::run` does between the runtime API's JSON in and its JSON out.
pub(crate) async fn invoke_http<S: Send + Sync + 'static>(
    api: Api<S>,
    event: &[u8],
    invocation: Invocation,
) -> Result<Vec<u8>, String> {
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
