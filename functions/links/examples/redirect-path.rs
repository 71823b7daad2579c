//! Follows links in process, without a socket: `redirect-path <hit|miss> <count>`.
//!
//! From the event's JSON to the answer's, as the runtime hands them over. The store is an HTTP client
//! that answers at once, so a miss is what our side of one costs. Prints two numbers: nanoseconds of
//! CPU a request, and the calls that all requests but the first made to the store together.
#![expect(clippy::print_stdout, reason = "a bench prints what it finds")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use boundary::telemetry::Log;
use boundary::{Aws, Clock, Entropy, Function, Host, Invocation, Vars};
use domain::Timestamp;

const LINK: &str = r#"{"Item":{"to":{"S":"https://example.org/a/page/somewhere"},
    "created_at":{"N":"1772366400000"}},"ConsumedCapacity":{"CapacityUnits":0.5}}"#;

/// A store that has every link, and counts how often it is asked.
#[derive(Debug, Clone, Default)]
struct Canned {
    calls: Arc<AtomicU64>,
}

impl HttpConnector for Canned {
    fn call(&self, _: HttpRequest) -> HttpConnectorFuture {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let response = http::Response::new(SdkBody::from(LINK));
        HttpConnectorFuture::ready(HttpResponse::try_from(response).map_err(|error| {
            aws_smithy_runtime_api::client::result::ConnectorError::user(error.into())
        }))
    }
}

impl HttpClient for Canned {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, count] = arguments.as_slice() else { return Err("<hit|miss> <count>".into()) };
    let (misses, count): (bool, u32) = (mode == "miss", count.parse()?);
    let store = Canned::default();
    let function = links::redirect::function(&host(store.clone())?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        follow(&function, "first").await?;
        let events: Vec<Vec<u8>> = (0..if misses { count } else { 1 })
            .map(|n| event(&if misses { format!("code{n}") } else { "first".to_owned() }))
            .collect();
        let (started, asked) = (cpu_nanoseconds()?, store.calls.load(Ordering::Relaxed));
        for n in 0..count as usize {
            let answer = function.invoke(&events[n % events.len()], Invocation::default()).await?;
            std::hint::black_box(answer);
        }
        let spent = cpu_nanoseconds()? - started;
        let asked = store.calls.load(Ordering::Relaxed) - asked;
        println!("{} {asked}", spent / u64::from(count.max(1)));
        Ok(())
    })
}

/// What this process's one thread has spent so far, as the kernel accounts it.
fn cpu_nanoseconds() -> Result<u64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/schedstat")?;
    Ok(text.split_whitespace().next().ok_or("no CPU time")?.parse()?)
}

async fn follow(function: &impl Function, code: &str) -> Result<(), Box<dyn Error>> {
    let answer = function.invoke(&event(code), Invocation::default()).await?;
    let answer = String::from_utf8(answer)?;
    if answer.contains("\"statusCode\":302") { Ok(()) } else { Err(answer.into()) }
}

/// A browser's request, as API Gateway passes it on.
fn event(code: &str) -> Vec<u8> {
    include_str!("../../../events/links/redirect/follow.json")
        .replace("/sample\"", &format!("/{code}\""))
        .into_bytes()
}

/// The clock stands still, so that what was read stays fresh.
fn host(store: Canned) -> Result<Host, Box<dyn Error>> {
    let vars: Vars = [
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_SESSION_TOKEN", "token"),
        ("AWS_REGION", "us-east-1"),
        ("LIMITS_TABLE", "limits"),
        ("LINKS_TABLE", "links"),
        ("CLICKS_QUEUE", "https://localhost/123456789012/clicks"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect();
    let now = Timestamp::from_second(1_772_366_400)?;
    Ok(Host {
        aws: Aws::through(SharedHttpClient::new(store), &vars)?,
        vars,
        clock: Clock::new(move || now),
        entropy: Entropy::system(),
        log: Log::new(|_| {}),
        network: egress::Network::system(),
        providers: None,
    })
}
