//! The access token for Firebase: exchanged for an assertion that the service account's key signs, and
//! cached until shortly before it expires.

use bytes::Bytes;
use domain::Timestamp;
use egress::{Http2Client, Network, PostRequest};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::timeout_at;
use url::Url;
use url::form_urlencoded::Serializer;

use crate::deadline::Deadline;
use crate::jwt_signer::JwtSigner;
use crate::settings::{InvalidSettings, ServiceAccount};

const SCOPE: &str = "https://www.googleapis.com/auth/firebase.messaging";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ASSERTION_LIFETIME_SECONDS: i64 = 3_600;

/// A token that ends within a minute is not used any more.
const EXPIRY_MARGIN_SECONDS: i64 = 60;

pub(super) struct AccessTokens {
    signer: JwtSigner,
    account: String,
    uri: Url,
    client: Http2Client,
    cached: Mutex<Option<AccessToken>>,
}

struct AccessToken {
    text: String,
    expires_at: i64,
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    expires_in: i64,
}

impl AccessTokens {
    pub(super) fn new(account: &ServiceAccount, network: Network) -> Result<Self, InvalidSettings> {
        let signer = JwtSigner::rsa_pem(account.private_key.reveal()).ok_or_else(|| {
            InvalidSettings::new("fcm.serviceAccount.private_key", "not an RSA key in PKCS#8")
        })?;
        let not_a_url = || InvalidSettings::new("fcm.serviceAccount.token_uri", "not a URL");
        let uri = Url::parse(&account.token_uri).map_err(|_| not_a_url())?;
        let client = Http2Client::new(network, uri.as_str()).map_err(|_| not_a_url())?;
        let account = account.client_email.clone();
        Ok(Self { signer, account, uri, client, cached: Mutex::default() })
    }

    /// A token that is valid for another minute, and is not `rejected`. Another send that needs one while
    /// it is being fetched waits for that one.
    pub(super) async fn current(
        &self,
        rejected: Option<&str>,
        deadline: Deadline,
        now: Timestamp,
    ) -> Result<String, String> {
        let cached = timeout_at(deadline.at(), self.cached.lock()).await;
        let mut cached = cached.map_err(|_| "no token in time".to_owned())?;
        let fresh = |token: &&AccessToken| {
            token.expires_at - EXPIRY_MARGIN_SECONDS > now.as_second()
                && Some(token.text.as_str()) != rejected
        };
        if let Some(token) = cached.as_ref().filter(fresh) {
            return Ok(token.text.clone());
        }
        let token = self.fetch(deadline, now).await?;
        let text = token.text.clone();
        *cached = Some(token);
        Ok(text)
    }

    async fn fetch(&self, deadline: Deadline, now: Timestamp) -> Result<AccessToken, String> {
        let issued_at = now.as_second();
        let claims = json!({
            "iss": self.account,
            "scope": SCOPE,
            "aud": self.uri.as_str(),
            "iat": issued_at,
            "exp": issued_at + ASSERTION_LIFETIME_SECONDS,
        });
        let assertion = self.signer.sign(None, &claims).ok_or("nothing can be signed")?;
        let form = Serializer::new(String::new())
            .append_pair("grant_type", GRANT)
            .append_pair("assertion", &assertion)
            .finish();
        let form_urlencoded = HeaderValue::from_static("application/x-www-form-urlencoded");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, form_urlencoded)]);
        let post = PostRequest { headers, body: Bytes::from(form) };
        let answer = self.client.post(self.uri.path(), post, deadline.limits(), now).await;
        let answer = answer.map_err(|cause| format!("no token: {cause}"))?;
        if answer.status != 200 {
            return Err(format!("no token: Google answered with status {}", answer.status));
        }
        let response: TokenResponse = serde_json::from_slice(&answer.body)
            .map_err(|_| "no token: an answer that cannot be read".to_owned())?;
        Ok(AccessToken { text: response.access_token, expires_at: issued_at + response.expires_in })
    }
}
