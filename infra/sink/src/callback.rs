//! What a provider says of a mail later, signed as Standard Webhooks says.
//!
//! The sink sends nothing anywhere: it makes the request, and whoever runs it takes it where callbacks
//! are heard.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Request;
use ring::hmac;

use crate::sink::Desk;
use crate::{Message, Sink, Via};

/// What became of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Nobody is there.
    Bounced,
    /// Somebody calls it spam.
    Complained,
}

impl Word {
    /// Each of them.
    pub const ALL: [Self; 2] = [Self::Bounced, Self::Complained];

    /// Its name in addresses and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bounced => "bounced",
            Self::Complained => "complained",
        }
    }
}

impl Sink {
    /// The secrets that callbacks are signed with: `provider:base64`, separated by commas.
    pub fn callback_secrets(&self) -> String {
        let secret = STANDARD.encode(&self.desk.credentials.callback_secret);
        format!("{}:{secret},{}:{secret}", Via::Smtp.name(), Via::Ses.name())
    }

    /// What the provider that carried a message says of it later, as a request to the API; `None` for
    /// what is not there or is no mail.
    pub fn callback(&self, id: u64, word: Word) -> Option<Request<Bytes>> {
        let message = self.messages().into_iter().find(|message| message.id == id)?;
        let reference = reference(&self.desk, &message)?;
        let now = self.desk.now();
        let said = serde_json::json!([{
            "reference": reference, "kind": word.name(), "at": now.to_string(),
            "hard": (word == Word::Bounced).then_some(true),
        }]);
        let body = said.to_string();
        let (name, at) = (format!("{reference}-{}", word.name()), now.as_second());
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.desk.credentials.callback_secret);
        let signature = hmac::sign(&key, format!("{name}.{at}.{body}").as_bytes());
        Request::post(format!("/api/v1/providers/{}/events", message.via.name()))
            .header("content-type", "application/json")
            .header("webhook-id", name)
            .header("webhook-timestamp", at)
            .header("webhook-signature", format!("v1,{}", STANDARD.encode(signature)))
            .body(Bytes::from(body))
            .ok()
    }
}

/// The provider's name for a mail.
fn reference(desk: &Desk, message: &Message) -> Option<String> {
    match message.via {
        Via::Ses => Some(desk.reference(message.id)),
        Via::Smtp => {
            let mut headers = message.headers.iter();
            let (_, id) = headers.find(|(name, _)| name.eq_ignore_ascii_case("message-id"))?;
            Some(id.trim().trim_matches(['<', '>']).to_owned())
        }
        Via::Sms | Via::WebPush | Via::Fcm | Via::Apns | Via::Webhook => None,
    }
}
