//! Lets requests pass in process, without a socket: `admit-path <gate|one|five|report> <count>`.
//!
//! `gate` asks what a redirect asks when no rule is for links: are the rules fresh, does one apply,
//! does the firewall refuse. `one` and `five` admit a request that as many rules apply to, on units
//! that the node holds: rules, ledger, report, standings. `report` lets as many callers pass, and
//! counts what is written about them a minute later. The store is an HTTP client that answers at once.
//! Prints two numbers: nanoseconds of CPU a request, and the calls that all of them made to the store
//! together.
#![expect(clippy::print_stdout, reason = "a bench prints what it finds")]

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use boundary::limits::{Limiter, QuotaSubject};
use boundary::telemetry::Log;
use boundary::{Aws, Clock, Entropy, Host, Vars};
use domain::Timestamp;
use domain::limits::firewall::FirewallRequest;
use domain::limits::rule::{Dimension, OnFailure, Rule};
use domain::limits::{Algorithm, Quota};
use serde_json::{Value, json};

const DAY_MS: i64 = 86_400_000;
const NOW_MS: i64 = 1_772_366_400_000;
const LIMIT: i64 = 100_000_000;
/// What the clock shows. It stands still, so that what was read stays fresh.
static CLOCK_MS: AtomicI64 = AtomicI64::new(NOW_MS);

const RESOURCE: &str = "/api/v1/bench";

/// A store that has one rule for each dimension, grants every debit, and counts how often it is asked.
#[derive(Debug, Clone, Default)]
struct Canned {
    rules: Arc<Vec<Value>>,
    calls: Arc<AtomicU64>,
}

impl Canned {
    fn answer(&self, request: &HttpRequest) -> Value {
        match request.headers().get("x-amz-target").unwrap_or_default() {
            "DynamoDB_20120810.GetItem" => json!({ "Item": { "rules": { "N": "1" } } }),
            "DynamoDB_20120810.Query" => json!({ "Items": *self.rules }),
            _ => {
                let window = (NOW_MS / DAY_MS).to_string();
                let one = json!({ "N": "1" });
                json!({ "Attributes": { "window": { "N": window }, "used": one, "leases": one } })
            }
        }
    }
}

impl HttpConnector for Canned {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let response = http::Response::new(SdkBody::from(self.answer(&request).to_string()));
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
    let [mode, count] = arguments.as_slice() else { return Err("<mode> <count>".into()) };
    let (rules, count): (usize, u64) = (if mode == "five" { 5 } else { 1 }, count.parse()?);
    let rules = Dimension::ALL.into_iter().take(rules).map(document);
    let store = Canned { rules: Arc::new(rules.collect()), calls: Arc::default() };
    let limiter = Limiter::from_host(&host(store.clone())?)?;
    let now = Timestamp::from_millisecond(NOW_MS)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        limiter.refresh(now).await;
        let caller = caller()?;
        // A large request is followed by large leases: the ones measured find enough held.
        for units in [LIMIT / 10, 1] {
            let admitted = limiter.admit(&caller, RESOURCE, RESOURCE, "POST", units).await;
            if admitted.refusal.is_some() || !limiter.applies(&caller, RESOURCE, "POST") {
                return Err(format!("{admitted:?}").into());
            }
        }
        if mode == "report" {
            for number in 0..count {
                let caller =
                    QuotaSubject { user: Some(format!("caller-{number}")), ..caller.clone() };
                limiter.admit(&caller, RESOURCE, RESOURCE, "POST", 1).await;
            }
            CLOCK_MS.fetch_add(61_000, Ordering::Relaxed);
        }
        let (started, asked) = (cpu_nanoseconds()?, store.calls.load(Ordering::Relaxed));
        for _ in 0..count {
            match mode.as_str() {
                "gate" => drop(black_box(gate(&limiter, "192.0.2.77", now))),
                "report" => limiter.after_response().await,
                _ => drop(black_box(limiter.admit(&caller, RESOURCE, RESOURCE, "POST", 1).await)),
            }
        }
        let spent = cpu_nanoseconds()? - started;
        let asked = store.calls.load(Ordering::Relaxed) - asked;
        println!("{} {asked}", spent / count.max(1));
        Ok(())
    })
}

/// Whether a visitor has to wait or is refused.
fn gate(limiter: &Limiter, address: &str, now: Timestamp) -> bool {
    let caller = QuotaSubject { ip: address.parse().ok(), ..QuotaSubject::default() };
    let header = |_: &str| None;
    let asked =
        FirewallRequest { ip: caller.ip, path: "/h4ppyCat", method: "GET", header: &header };
    !limiter.is_fresh(now)
        || limiter.applies(&caller, asked.path, asked.method)
        || limiter.firewall_refusal(&asked, now).is_some()
}

fn caller() -> Result<QuotaSubject, Box<dyn Error>> {
    Ok(QuotaSubject {
        user: Some("user-000000000007".to_owned()),
        api_key: Some("key-000000000007".to_owned()),
        ip: Some("192.0.2.77".parse()?),
        tenant: Some("tenant-000000000007".to_owned()),
    })
}

/// A rule as the table has it.
fn document(dimension: Dimension) -> Value {
    let rule = Rule {
        resources: vec![RESOURCE.to_owned()],
        methods: vec!["POST".to_owned()],
        on_failure: OnFailure::Closed,
        ..Rule::new(
            format!("bench-{}", dimension.name()),
            dimension,
            Quota::new(Algorithm::SlidingWindow, LIMIT, DAY_MS),
        )
    };
    json!({
        "pk": { "S": "rules" },
        "sk": { "S": format!("rule/{}", rule.id) },
        "v": { "N": "1" },
        "body": { "S": json!(rule).to_string() },
        "changed_by": { "S": "bench" },
        "changed_at": { "N": NOW_MS.to_string() },
    })
}

/// What this process's one thread has spent so far, as the kernel accounts it.
fn cpu_nanoseconds() -> Result<u64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/schedstat")?;
    Ok(text.split_whitespace().next().ok_or("no CPU time")?.parse()?)
}

fn host(store: Canned) -> Result<Host, Box<dyn Error>> {
    let vars: Vars = [
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_SESSION_TOKEN", "token"),
        ("AWS_REGION", "us-east-1"),
        ("LIMITS_TABLE", "limits"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect();
    let now = || Timestamp::from_millisecond(CLOCK_MS.load(Ordering::Relaxed)).unwrap_or_default();
    Ok(Host {
        aws: Aws::through(SharedHttpClient::new(store), &vars)?,
        vars,
        clock: Clock::new(now),
        entropy: Entropy::system(),
        log: Log::new(|_| {}),
        network: egress::Network::system(),
        providers: None,
    })
}
