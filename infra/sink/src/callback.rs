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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Draft;
    use crate::{Options, page};

    async fn with_two() -> Sink {
        let sink = Sink::start(Options::default()).await.unwrap();
        sink.desk.keep(Via::Ses, Draft::default());
        sink.desk.keep(Via::Sms, Draft::default());
        sink
    }

    #[tokio::test]
    async fn what_is_said_of_a_mail_is_signed_and_names_it_as_it_was_accepted() {
        let sink = with_two().await;
        let said = sink.callback(1, Word::Bounced).unwrap();
        assert_eq!(said.uri().path(), "/api/v1/providers/ses/events");
        let header = |name: &str| said.headers()[name].to_str().unwrap().to_owned();
        let secrets = sink.callback_secrets();
        let secret = secrets.split(',').find_map(|it| it.strip_prefix("ses:")).unwrap();
        let key = hmac::Key::new(hmac::HMAC_SHA256, &STANDARD.decode(secret).unwrap());
        let body = std::str::from_utf8(said.body()).unwrap();
        let signed = format!("{}.{}.{body}", header("webhook-id"), header("webhook-timestamp"));
        let tag = STANDARD.decode(header("webhook-signature").trim_start_matches("v1,")).unwrap();
        assert!(hmac::verify(&key, signed.as_bytes(), &tag).is_ok());
        assert!(body.contains(&sink.desk.reference(1)) && body.contains("\"hard\":true"), "{body}");
        assert!(sink.callback(2, Word::Bounced).is_none(), "a text message never comes back");
        assert!(sink.callback(3, Word::Bounced).is_none());
    }

    #[tokio::test]
    async fn only_the_page_itself_can_ask_for_it() {
        let sink = with_two().await;
        let asked = |site: &str, path: &str| {
            let request = Request::post(path).header("sec-fetch-site", site);
            let request = request.header("host", "localhost:8080").body(Bytes::new()).unwrap();
            page::callback(&sink, page::AT, &request).is_some()
        };
        assert!(asked("same-origin", "/_sink/1/complained"));
        assert!(!asked("cross-site", "/_sink/1/complained"));
        assert!(!asked("same-origin", "/_sink/1/praised"));
    }
}
