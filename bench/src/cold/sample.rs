//! The functions that can be measured, and the request each is measured with.

use domain::accounts::SecretHash;
use serde_json::{Value, json};

/// The bootstrap admin's secret in the measured process; it opens nothing else.
const SECRET: &str = "cold";

/// A binary and the request it answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample<'e> {
    /// The event, where it is not the request below.
    pub(crate) event: Option<&'e Value>,
    /// What it is called here.
    pub(crate) name: &'static str,
    pub(crate) binary: &'static str,
    /// What cargo is told to build it.
    pub(crate) build: &'static [&'static str],
    method: &'static str,
    path: &'static str,
    query: &'static str,
}

/// What Lambda's runtime costs without a function in it.
pub(crate) const EMPTY: Sample<'static> = Sample {
    event: None,
    name: "empty",
    binary: "examples/empty-function",
    build: &["-p", "bench", "--example", "empty-function"],
    method: "GET",
    path: "/",
    query: "",
};

/// The functions that answer HTTP requests.
pub(crate) const FUNCTIONS: [Sample<'static>; 5] = [
    Sample {
        event: None,
        name: "ids",
        binary: "ids",
        build: &["-p", "ids"],
        method: "POST",
        path: "/api/v1/ids",
        query: "count=1",
    },
    Sample {
        event: None,
        name: "accounts",
        binary: "accounts",
        build: &["-p", "accounts", "--bin", "accounts"],
        method: "GET",
        path: "/api/v1/me",
        query: "",
    },
    Sample {
        event: None,
        name: "describe",
        binary: "describe",
        build: &["-p", "service", "--bin", "describe"],
        method: "GET",
        path: "/health",
        query: "",
    },
    Sample {
        event: None,
        name: "redirect",
        binary: "redirect",
        build: &["-p", "links", "--bin", "redirect"],
        method: "GET",
        path: "/h4ppyCat",
        query: "",
    },
    // Every request asks for another link, so that every request reads one.
    Sample {
        event: None,
        name: "redirect-miss",
        binary: "redirect",
        build: &["-p", "links", "--bin", "redirect"],
        method: "GET",
        path: "/*",
        query: "",
    },
];

impl<'e> Sample<'e> {
    /// A function that is invoked with `event`.
    pub(crate) const fn of(event: &'e Value) -> Self {
        Self { event: Some(event), ..EMPTY }
    }

    /// What the function is invoked with: as API Gateway's HTTP API sends it.
    pub(crate) fn event(&self) -> Value {
        if let Some(event) = self.event {
            return event.clone();
        }
        json!({
            "version": "2.0",
            "routeKey": format!("{} {}", self.method, self.path),
            "rawPath": self.path,
            "rawQueryString": self.query,
            "headers": {
                "accept": "text/html",
                "authorization": authorization(),
                "host": "api.example.com",
                "user-agent": "bench",
                "x-amzn-trace-id": "Root=1-5759e988-bd862e3fe1be46a994272793",
                "x-forwarded-for": "203.0.113.7",
                "x-forwarded-port": "443",
                "x-forwarded-proto": "https",
            },
            "requestContext": {
                "accountId": "123456789012",
                "apiId": "api",
                "domainName": "api.example.com",
                "domainPrefix": "api",
                "http": {
                    "method": self.method,
                    "path": self.path,
                    "protocol": "HTTP/1.1",
                    "sourceIp": "203.0.113.7",
                    "userAgent": "bench",
                },
                "requestId": "JKJaXmPLvHcESHA=",
                "routeKey": format!("{} {}", self.method, self.path),
                "stage": "$default",
                "time": "10/Mar/2026:05:16:23 +0000",
                "timeEpoch": 1_773_119_783_000_i64,
            },
            "isBase64Encoded": false,
        })
    }
}

/// The header that the bootstrap admin of the measured process sends.
pub(crate) fn authorization() -> String {
    format!("Bearer root.{SECRET}")
}

/// A queue for each channel and priority.
const NINE_QUEUES: &str = "https://localhost/1/a,https://localhost/1/b,https://localhost/1/c,\
    https://localhost/1/d,https://localhost/1/e,https://localhost/1/f,https://localhost/1/g,\
    https://localhost/1/h,https://localhost/1/i";

/// The environment that Lambda and the template give every function, without its endpoints.
pub(crate) fn environment() -> Vec<(&'static str, String)> {
    let fixed = [
        ("AWS_LAMBDA_FUNCTION_NAME", "cold"),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
        ("AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/cold"),
        ("AWS_LAMBDA_LOG_STREAM_NAME", "cold"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_SESSION_TOKEN", "token"),
        ("STAGE", "bench"),
        ("IDS_TABLE", "ids"),
        ("ACCOUNTS_TABLE", "accounts"),
        ("KEY_USES_QUEUE", "https://localhost/123456789012/key-uses"),
        ("LIMITS_TABLE", "limits"),
        ("LINKS_TABLE", "links"),
        ("CLICKS_QUEUE", "https://localhost/123456789012/clicks"),
        ("CLICKS_BUCKET", "clicks"),
        ("FETCH_PREVIEWS", "false"),
        ("JOBS_TABLE", "jobs"),
        ("DISPATCH_QUEUE", "https://localhost/123456789012/dispatch"),
        ("WORK_QUEUE", "https://localhost/123456789012/work"),
        ("ARTIFACTS_BUCKET", "artifacts"),
        ("JOB_EVENTS_TOPIC", "arn:aws:sns:us-east-1:123456789012:job-events"),
        ("NOTIFICATIONS_TABLE", "notifications"),
        ("NOTIFICATIONS_TOPIC", "arn:aws:sns:us-east-1:123456789012:notifications"),
        ("DELIVERY_QUEUES", NINE_QUEUES),
        ("DELIVERY_DEAD_LETTERS", NINE_QUEUES),
        ("PUBLIC_URL", "https://sy.example"),
        ("FEED_TABLE", "feed"),
        ("FEED_TOPIC", "arn:aws:sns:us-east-1:123456789012:feed"),
        ("FAN_OUT_QUEUE", "https://localhost/123456789012/fan-out"),
        ("MEDIA_BUCKET", "media"),
        ("FEED_SOCKET", "https://localhost/live"),
        ("FEED_SOCKET_URL", "wss://localhost/live"),
        ("TEND_KEYS_DEAD_LETTERS", "https://localhost/123456789012/dead"),
        ("COUNT_CLICKS_DEAD_LETTERS", "https://localhost/123456789012/dead"),
        ("DISPATCH_DEAD_LETTERS", "https://localhost/123456789012/dead"),
        ("WORK_DEAD_LETTERS", "https://localhost/123456789012/dead"),
        ("FAN_OUT_DEAD_LETTERS", "https://localhost/123456789012/dead"),
        ("ACCOUNT_EVENTS_TOPIC", "arn:aws:sns:us-east-1:123456789012:account-events"),
    ];
    let mut all: Vec<_> = fixed.map(|(name, value)| (name, value.to_owned())).into();
    all.push(("ADMIN_KEY_HASH", SecretHash::of(SECRET).to_hex()));
    all
}
