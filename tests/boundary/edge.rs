//! The edge itself, with handlers that misbehave in every way there is.

use boundary::batch::{Consumer, ReceivedMessage, Unhandled};
use boundary::http::{Api, Call, Json, Operation, Operations};
use boundary::schedule::Task;
use boundary::telemetry::Log;
use boundary::{Clock, Entropy, Function, Host, Invocation, Vars};
use domain::Failure;
use serde_json::{Value, json};
use tests::Lab;

fn host(lab: &Lab) -> Host {
    let queues = &lab.cloud.stack.queues;
    let dead = queues.iter().find(|queue| queue.logical_id == "TendKeysDeadLetters").unwrap();
    Host {
        vars: Vars::from_iter([
            ("DEAD".to_owned(), dead.url.clone()),
            ("LIMITS_TABLE".to_owned(), lab.table("LimitsTable")),
        ]),
        aws: lab.aws(),
        clock: Clock::system(),
        entropy: Entropy::system(),
        log: Log::new(|_| {}),
        network: local::network::offline(),
        providers: None,
    }
}

async fn handle((): &(), message: &ReceivedMessage) -> Result<(), Unhandled> {
    match message.body.as_str() {
        "panic" => panic!("as planned"),
        "fail" => Err(Failure::new("do it", "as planned").into()),
        "garbage" => Err(Unhandled::Unreadable("as planned".to_owned())),
        _ => Ok(()),
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_messages_that_failed_come_back_a_panic_included() {
    let lab = Lab::new();
    let consumer = Consumer::new(&host(&lab), "edge", "DEAD", (), |state, message| {
        Box::pin(handle(state, message))
    })
    .unwrap();
    let records: Vec<Value> = ["good", "panic", "fail", "garbage", "also good"]
        .iter()
        .map(|body| json!({ "messageId": body, "body": body, "attributes": {}, "messageAttributes": {} }))
        .collect();
    let event = json!({ "Records": records }).to_string();
    let answer = consumer.invoke(event.as_bytes(), Invocation::default()).await.unwrap();
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(
        answer["batchItemFailures"],
        json!([{ "itemIdentifier": "panic" }, { "itemIdentifier": "fail" }])
    );
}

const BROKEN: Operation = Operation::get("/panic", "panic", "Panics");
const FINE: Operation = Operation::get("/fine", "fine", "Answers");

async fn broken() -> Json<Value> {
    panic!("as planned")
}

async fn fine(call: Call) -> Json<Value> {
    Json(json!(call.path))
}

fn api(lab: &Lab) -> Api {
    Api::new(&host(lab), (), |to| {
        to.on(BROKEN, broken);
        to.on(FINE, fine);
    })
    .unwrap()
}

async fn get(api: &Api, path: &str) -> Value {
    let event = json!({
        "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": "",
        "headers": { "host": "x" }, "cookies": ["a=1", "b=2"], "isBase64Encoded": false,
        "requestContext": {
            "accountId": "0", "apiId": "x", "domainName": "x", "domainPrefix": "x",
            "requestId": "r", "routeKey": "$default", "stage": "$default", "timeEpoch": 0,
            "time": "01/Mar/2026:12:00:00 +0000",
            "http": { "method": "GET", "path": path, "protocol": "HTTP/1.1",
                      "sourceIp": "127.0.0.1", "userAgent": "test" },
        },
    });
    let answer = api.invoke(event.to_string().as_bytes(), Invocation::default()).await.unwrap();
    serde_json::from_slice(&answer).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_costs_one_answer() {
    let lab = Lab::new();
    let api = api(&lab);
    let broken = get(&api, "/panic").await;
    assert_eq!(broken["statusCode"], 500);
    assert_eq!(broken["headers"]["content-type"], "application/problem+json");
    assert!(!broken["body"].as_str().unwrap().contains("as planned"));
    assert_eq!(get(&api, "/fine").await["statusCode"], 200);
    assert_eq!(get(&api, "/none").await["statusCode"], 404);
}

#[tokio::test(start_paused = true)]
async fn a_scheduled_run_that_fails_is_a_failed_invocation() {
    let lab = Lab::new();
    let failing: Task<()> = Task::new(&host(&lab), "edge", (), |(), _| {
        Box::pin(async { Err(Failure::new("sweep", "as planned")) })
    });
    let said = failing.invoke(b"{}", Invocation::default()).await.unwrap_err();
    assert_eq!(said, "could not sweep: as planned");
    let panicking: Task<()> =
        Task::new(&host(&lab), "edge", (), |(), _| Box::pin(async { panic!("as planned") }));
    assert!(panicking.invoke(b"{}", Invocation::default()).await.is_err());
}
