//! A deployed Switchyard: at `SWITCHYARD_URL`, or started here.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::accounts::SecretHash;
use domain::notifications::token::{KeyRing, TokenKey};
use local::{Cloud, Options};
use serde_json::Value;
use sink::Sink;

/// A deployment under test.
#[derive(Debug, Clone)]
pub struct Target {
    url: String,
    /// The admin's key.
    pub admin_key: String,
    /// What it signs links with, as in its parameters.
    token_keys: String,
    /// What its providers sign callbacks with, as in its parameters.
    callback_secrets: String,
    agent: ureq::Agent,
}

/// An answer, read.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub etag: String,
    /// Its media type.
    pub media_type: String,
    /// Where it leads.
    pub location: String,
    headers: ureq::http::HeaderMap,
    /// Its body as JSON; `Null` if it is none.
    pub body: Value,
    /// Its body as it came.
    pub bytes: Vec<u8>,
}

impl Response {
    /// A header as text; empty if it is not there.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// A member of the body as text; empty if it is not there.
    pub fn text(&self, member: &str) -> &str {
        self.body[member].as_str().unwrap_or_default()
    }
}

/// The target of this run.
#[expect(clippy::disallowed_methods, reason = "the environment of the test run names the target")]
pub fn target() -> &'static Target {
    static TARGET: OnceLock<Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let [url, admin_key, token_keys, callback_secrets] = match std::env::var("SWITCHYARD_URL") {
            Ok(url) => [
                url,
                variable("SWITCHYARD_ADMIN_KEY"),
                variable("SWITCHYARD_TOKEN_KEYS"),
                variable("SWITCHYARD_CALLBACK_SECRETS"),
            ],
            Err(_) => start(),
        };
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(Duration::from_secs(30)))
            .build()
            .new_agent();
        let url = url.trim_end_matches('/').to_owned();
        Target { url, admin_key, token_keys, callback_secrets, agent }
    })
}

/// The first of `name:base64`, separated by commas.
fn first_named_secret(text: &str) -> Option<(&str, Vec<u8>)> {
    let (name, secret) = text.split(',').next()?.split_once(':')?;
    Some((name, STANDARD.decode(secret).ok()?))
}

/// Starts a local cloud in memory on a free port, on a thread that lives as long as the tests.
fn start() -> [String; 4] {
    let secret = "EndToEnd";
    let keys = format!("e2e:{}", STANDARD.encode([7; 32]));
    let token_keys = keys.clone();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let outcome = tokio::runtime::Runtime::new().map(|runtime| {
            runtime.block_on(async {
                let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../template.yaml");
                let mut options = Options::new(&root);
                let sink = Sink::start(sink::SinkOptions::default()).await;
                let sink = sink.map_err(|error| error.to_string())?;
                let secrets = sink.callback_secrets();
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
                    .await
                    .map_err(|error| error.to_string())?;
                let address = listener.local_addr().map_err(|error| error.to_string())?;
                options.parameters = [
                    ("TokenKeys".to_owned(), keys),
                    ("PublicUrl".to_owned(), "https://e2e.test".to_owned()),
                    ("SocketUrl".to_owned(), format!("ws://{address}/_ws/FeedSocketApi")),
                    ("AdminKeyHash".to_owned(), SecretHash::of(secret).to_hex()),
                    ("LimitsDeadlineMs".to_owned(), "5000".to_owned()),
                ]
                .into();
                options.use_sink(sink);
                let cloud = Cloud::start(options)?;
                let no_report: local::pump::BatchReporter = Arc::new(|_, _, _| {});
                cloud.pump.start(&no_report);
                let _ = sender.send((address, secrets));
                cloud.serve(listener, Arc::new(|_, _, _, _| {})).await;
                Ok::<(), String>(())
            })
        });
        if let Ok(Err(error)) = outcome {
            panic!("{error}");
        }
    });
    match receiver.recv() {
        Ok((address, secrets)) => {
            [format!("http://{address}"), format!("root.{secret}"), token_keys, secrets]
        }
        Err(error) => panic!("the local cloud did not start: {error}"),
    }
}

impl Target {
    /// Sends a request. An empty key sends none.
    ///
    /// # Panics
    /// When there is no answer at all, which fails the test.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        key: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Response {
        let text = body.map(ToString::to_string).unwrap_or_default();
        self.send_text(method, path, key, headers, ("application/json", text))
    }

    /// Sends a body of any media type; an empty one is none.
    ///
    /// # Panics
    /// When there is no answer at all, which fails the test.
    pub fn send_text(
        &self,
        method: &str,
        path: &str,
        key: &str,
        headers: &[(&str, &str)],
        (media_type, body): (&str, String),
    ) -> Response {
        let mut request =
            ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.url));
        if !key.is_empty() {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !body.is_empty() {
            request = request.header("content-type", media_type);
        }
        let sent = match request.body(body) {
            Ok(request) => self.agent.run(request),
            Err(error) => panic!("{method} {path}: {error}"),
        };
        let mut response = match sent {
            Ok(response) => response,
            Err(error) => panic!("{method} {path}: {error}"),
        };
        let header = |name: &str| {
            let value = response.headers().get(name).and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        let (etag, media_type) = (header("etag"), header("content-type"));
        let location = header("location");
        let bytes = response.body_mut().read_to_vec().unwrap_or_default();
        Response {
            status: response.status().as_u16(),
            etag,
            media_type,
            location,
            headers: response.headers().clone(),
            body: serde_json::from_slice(&bytes).unwrap_or(Value::Null),
            bytes,
        }
    }

    /// Signs links as the target does.
    ///
    /// # Panics
    /// When `SWITCHYARD_TOKEN_KEYS` has no key, which fails the test.
    pub fn ring(&self) -> KeyRing {
        let (id, secret) = first_named_secret(&self.token_keys).unwrap_or_else(|| {
            panic!("SWITCHYARD_TOKEN_KEYS is not what the parameter TokenKeys takes")
        });
        match TokenKey::new(id, &secret) {
            Some(key) => KeyRing::new(key, Vec::new()),
            None => panic!("SWITCHYARD_TOKEN_KEYS has no key of 32 bytes"),
        }
    }

    /// What `provider` signs its callbacks with.
    ///
    /// # Panics
    /// When `SWITCHYARD_CALLBACK_SECRETS` has none, which fails the test.
    pub fn callback_secret(&self, provider: &str) -> Vec<u8> {
        let mut all = self.callback_secrets.split(',').filter_map(first_named_secret);
        match all.find(|(name, _)| *name == provider) {
            Some((_, secret)) => secret,
            None => panic!("SWITCHYARD_CALLBACK_SECRETS has none of {provider}"),
        }
    }

    /// A GET by the admin.
    pub fn get(&self, path: &str) -> Response {
        self.send("GET", path, &self.admin_key, &[], None)
    }

    /// A POST by the admin.
    pub fn post(&self, path: &str, body: &Value) -> Response {
        self.send("POST", path, &self.admin_key, &[], Some(body))
    }

    /// Reads `path` until `wanted` holds, for at most half a minute.
    pub fn eventually(&self, path: &str, wanted: impl Fn(&Response) -> bool) -> Response {
        self.within(30, || self.get(path), wanted)
    }

    /// Calls `request` until `wanted` holds, for at most so many seconds.
    #[expect(clippy::disallowed_methods, reason = "what is deployed can't be hurried")]
    pub fn within(
        &self,
        seconds: u64,
        request: impl Fn() -> Response,
        wanted: impl Fn(&Response) -> bool,
    ) -> Response {
        let started = Instant::now();
        loop {
            let answer = request();
            if wanted(&answer) || started.elapsed() > Duration::from_secs(seconds) {
                return answer;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// A user id that no other run has used.
    ///
    /// # Panics
    /// When no ids are given out, which fails the test.
    pub fn fresh(&self, start: &str) -> String {
        let made = self.post("/api/v1/ids?format=base62", &Value::Null);
        assert_eq!(made.status, 200, "{}", made.body);
        let id = made.body["ids"][0].as_str().unwrap_or_default().to_lowercase();
        format!("{start}-{id}")
    }

    /// A key of a new account with the role `member`.
    ///
    /// # Panics
    /// When the account can't be made, which fails the test.
    pub fn member(&self) -> String {
        let user = self.fresh("member");
        let account = serde_json::json!({ "userId": user, "name": "Member", "roles": ["member"] });
        assert_eq!(self.post("/api/v1/accounts", &account).status, 201);
        let made = self.post(&format!("/api/v1/accounts/{user}/keys"), &serde_json::json!({}));
        made.text("key").to_owned()
    }
}
