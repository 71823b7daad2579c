//! The credentials that the sink accepts, made when it starts. No real provider accepts them.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use p256::ecdh::diffie_hellman;
use p256::elliptic_curve::sec1::ToEncodedPoint as _;
use p256::{PublicKey, SecretKey};
use rcgen::KeyPair;
use ring::rand::SystemRandom;
use ring::rsa;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde::Serialize;

/// The key of a service account that exists nowhere. It is no secret: it is in the repository, since
/// making one takes seconds.
const SERVICE_ACCOUNT: &str = include_str!("service-account.pem");

/// A browser's subscription, as the Push API describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PushSubscription {
    pub endpoint: String,
    /// The browser's public key.
    pub p256dh: String,
    /// The shared authentication secret.
    pub auth: String,
}

pub(crate) struct Credentials {
    pub(crate) mail_password: String,
    pub(crate) vapid: KeyPair,
    pub(crate) apns: KeyPair,
    pub(crate) fcm_public: Vec<u8>,
    pub(crate) fcm_token: String,
    pub(crate) webhook_secret: Vec<u8>,
    pub(crate) callback_secret: Vec<u8>,
    browser: SecretKey,
    pub(crate) browser_auth: [u8; 16],
}

impl Credentials {
    pub(crate) fn new() -> io::Result<Self> {
        let (mut browser_auth, mut browser) = ([0; 16], [0; 32]);
        fill(&mut browser_auth)?;
        fill(&mut browser)?;
        let service_account = PrivatePkcs8KeyDer::from_pem_slice(SERVICE_ACCOUNT.as_bytes());
        let service_account = service_account.map_err(io::Error::other)?;
        let service_account = rsa::KeyPair::from_pkcs8(service_account.secret_pkcs8_der());
        let service_account = service_account.map_err(io::Error::other)?;
        Ok(Self {
            mail_password: random(16)?,
            vapid: KeyPair::generate().map_err(io::Error::other)?,
            apns: KeyPair::generate().map_err(io::Error::other)?,
            fcm_public: service_account.public().as_ref().to_vec(),
            fcm_token: random(24)?,
            webhook_secret: random(24)?.into_bytes(),
            callback_secret: random(24)?.into_bytes(),
            browser: SecretKey::from_slice(&browser).map_err(|_| io::Error::other("no key"))?,
            browser_auth,
        })
    }

    /// The ECDH secret of the browser and the owner of the public key `sender`.
    pub(crate) fn ecdh_shared_secret(&self, sender: &[u8]) -> Option<Vec<u8>> {
        let sender = PublicKey::from_sec1_bytes(sender).ok()?;
        let shared = diffie_hellman(self.browser.to_nonzero_scalar(), sender.as_affine());
        Some(shared.raw_secret_bytes().to_vec())
    }

    pub(crate) fn browser_public(&self) -> Vec<u8> {
        self.browser.public_key().to_encoded_point(false).as_bytes().to_vec()
    }

    pub(crate) fn subscription(&self) -> PushSubscription {
        PushSubscription {
            endpoint: "https://push.sink.localhost/push/browser".to_owned(),
            p256dh: URL_SAFE_NO_PAD.encode(self.browser_public()),
            auth: URL_SAFE_NO_PAD.encode(self.browser_auth),
        }
    }

    /// The provider settings of a stack that sends everything here.
    pub(crate) fn settings(&self, smtp: std::net::SocketAddr) -> serde_json::Value {
        serde_json::json!({
            "smtp": {
                "host": smtp.ip().to_string(),
                "port": smtp.port(),
                "security": "none",
                "user": "sink",
                "password": self.mail_password,
                "from": "Switchyard <notifications@sink.localhost>",
            },
            "ses": { "from": "Switchyard <notifications@sink.localhost>" },
            "sms": {},
            "webPush": {
                "subject": "mailto:developer@sink.localhost",
                "publicKey": URL_SAFE_NO_PAD.encode(self.vapid.public_key_raw()),
                "privateKey": URL_SAFE_NO_PAD.encode(self.vapid.serialize_der()),
            },
            "fcm": {
                "endpoint": "https://fcm.sink.localhost",
                "serviceAccount": {
                    "project_id": "sink",
                    "client_email": "developer@sink.localhost",
                    "private_key": SERVICE_ACCOUNT,
                    "token_uri": "https://fcm.sink.localhost/token",
                },
            },
            "apns": {
                "endpoint": "https://apns.sink.localhost",
                "teamId": "SINKTEAM01",
                "keyId": "SINKKEY001",
                "key": self.apns.serialize_pem(),
                "topic": "localhost.sink.app",
            },
            "webhook": { "secrets": [format!("whsec_{}", STANDARD.encode(&self.webhook_secret))] },
        })
    }
}

fn fill(buffer: &mut [u8]) -> io::Result<()> {
    use ring::rand::SecureRandom as _;
    SystemRandom::new().fill(buffer).map_err(|_| io::Error::other("no randomness"))
}

fn random(bytes: usize) -> io::Result<String> {
    let mut buffer = vec![0; bytes];
    fill(&mut buffer)?;
    Ok(URL_SAFE_NO_PAD.encode(buffer))
}
