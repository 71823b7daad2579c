//! The token that opens Firebase: traded for a signature by the service account's key, and kept until
//! shortly before it ends.

use bytes::Bytes;
use domain::Timestamp;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use outside::{Http2Client, Network, PostRequest};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::timeout_at;
use url::Url;
use url::form_urlencoded::Serializer;

use crate::budget::Budget;
use crate::jwt::Signer;
use crate::settings::{Misconfigured, ServiceAccount};

const SCOPE: &str = "https://www.googleapis.com/auth/firebase.messaging";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ASSERTION_SECONDS: i64 = 3_600;

/// A token that ends within a minute is not used any more.
const MARGIN_SECONDS: i64 = 60;

pub(super) struct Tokens {
    signer: Signer,
    account: String,
    uri: Url,
    lines: Http2Client,
    kept: Mutex<Option<Token>>,
}

struct Token {
    text: String,
    ends: i64,
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    expires_in: i64,
}

impl Tokens {
    pub(super) fn new(account: &ServiceAccount, network: Network) -> Result<Self, Misconfigured> {
        let signer = Signer::rsa_pem(account.private_key.reveal()).ok_or_else(|| {
            Misconfigured::new("fcm.serviceAccount.private_key", "not an RSA key in PKCS#8")
        })?;
        let no_url = || Misconfigured::new("fcm.serviceAccount.token_uri", "not a URL");
        let uri = Url::parse(&account.token_uri).map_err(|_| no_url())?;
        let lines = Http2Client::new(network, uri.as_str()).map_err(|_| no_url())?;
        let account = account.client_email.clone();
        Ok(Self { signer, account, uri, lines, kept: Mutex::default() })
    }

    /// A token that is good for another minute, and is not `stale`. Whoever needs one while it is
    /// being fetched waits for that one.
    pub(super) async fn current(
        &self,
        stale: Option<&str>,
        budget: Budget,
        now: Timestamp,
    ) -> Result<String, String> {
        let kept = timeout_at(budget.ends(), self.kept.lock()).await;
        let mut kept = kept.map_err(|_| "no token in time".to_owned())?;
        let fresh = |token: &&Token| {
            token.ends - MARGIN_SECONDS > now.as_second() && Some(token.text.as_str()) != stale
        };
        if let Some(token) = kept.as_ref().filter(fresh) {
            return Ok(token.text.clone());
        }
        let token = self.fetch(budget, now).await?;
        let text = token.text.clone();
        *kept = Some(token);
        Ok(text)
    }

    async fn fetch(&self, budget: Budget, now: Timestamp) -> Result<Token, String> {
        let made = now.as_second();
        let claims = json!({
            "iss": self.account,
            "scope": SCOPE,
            "aud": self.uri.as_str(),
            "iat": made,
            "exp": made + ASSERTION_SECONDS,
        });
        let assertion = self.signer.token(None, &claims).ok_or("nothing can be signed")?;
        let form = Serializer::new(String::new())
            .append_pair("grant_type", GRANT)
            .append_pair("assertion", &assertion)
            .finish();
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, kind)]);
        let post = PostRequest { headers, body: Bytes::from(form) };
        let answer = self.lines.post(self.uri.path(), post, budget.limits(), now).await;
        let answer = answer.map_err(|cause| format!("no token: {cause}"))?;
        if answer.status != 200 {
            return Err(format!("no token: Google answered with status {}", answer.status));
        }
        let granted: Granted = serde_json::from_slice(&answer.body)
            .map_err(|_| "no token: an answer that cannot be read".to_owned())?;
        Ok(Token { text: granted.access_token, ends: made + granted.expires_in })
    }
}
