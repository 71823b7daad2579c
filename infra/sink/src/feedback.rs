//! A provider's feedback about a mail (a bounce, a complaint), signed as Standard Webhooks says.
//!
//! The sink sends nothing anywhere: it makes the request, and the local cloud routes it to the API.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use ring::hmac;

use crate::http::Request;
use crate::sink::SinkState;
use crate::{ProviderKind, Sink, SinkMessage};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailFeedback {
    Bounced,
    /// The recipient reported spam.
    Complained,
}

impl MailFeedback {
    pub const ALL: [Self; 2] = [Self::Bounced, Self::Complained];

    /// Its name in URLs and in JSON.
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
        let secret = STANDARD.encode(&self.state.credentials.callback_secret);
        format!("{}:{secret},{}:{secret}", ProviderKind::Smtp.name(), ProviderKind::Ses.name())
    }

    /// The provider's feedback about a message, as a request to the API; `None` for an unknown message or
    /// one that is no mail.
    pub fn feedback_request(&self, id: u64, feedback: MailFeedback) -> Option<Request> {
        let message = self.messages().into_iter().find(|message| message.id == id)?;
        let reference = reference(&self.state, &message)?;
        let now = self.state.now();
        let events = serde_json::json!([{
            "reference": reference, "kind": feedback.name(), "at": now.to_string(),
            "hard": (feedback == MailFeedback::Bounced).then_some(true),
        }]);
        let body = events.to_string();
        let (name, at) = (format!("{reference}-{}", feedback.name()), now.as_second());
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.state.credentials.callback_secret);
        let signature = hmac::sign(&key, format!("{name}.{at}.{body}").as_bytes());
        ::http::Request::post(format!("/api/v1/providers/{}/events", message.via.name()))
            .header("content-type", "application/json")
            .header("webhook-id", name)
            .header("webhook-timestamp", at)
            .header("webhook-signature", format!("v1,{}", STANDARD.encode(signature)))
            .body(Bytes::from(body))
            .ok()
    }
}

/// The provider's name for a mail.
fn reference(state: &SinkState, message: &SinkMessage) -> Option<String> {
    match message.via {
        ProviderKind::Ses => Some(state.reference(message.id)),
        ProviderKind::Smtp => {
            let id = message.header("message-id").trim().trim_matches(['<', '>']);
            (!id.is_empty()).then(|| id.to_owned())
        }
        ProviderKind::Sms
        | ProviderKind::WebPush
        | ProviderKind::Fcm
        | ProviderKind::Apns
        | ProviderKind::Webhook => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ReceivedMessage;
    use crate::{SinkOptions, page};

    async fn with_two() -> Sink {
        let sink = Sink::start(SinkOptions::default()).await.unwrap();
        sink.state.store(ProviderKind::Ses, ReceivedMessage::default());
        sink.state.store(ProviderKind::Sms, ReceivedMessage::default());
        sink
    }

    #[tokio::test]
    async fn feedback_is_signed_and_has_the_reference_of_the_mail() {
        let sink = with_two().await;
        let request = sink.feedback_request(1, MailFeedback::Bounced).unwrap();
        assert_eq!(request.uri().path(), "/api/v1/providers/ses/events");
        let header = |name: &str| request.headers()[name].to_str().unwrap().to_owned();
        let secrets = sink.callback_secrets();
        let secret = secrets.split(',').find_map(|it| it.strip_prefix("ses:")).unwrap();
        let key = hmac::Key::new(hmac::HMAC_SHA256, &STANDARD.decode(secret).unwrap());
        let body = std::str::from_utf8(request.body()).unwrap();
        let signed = format!("{}.{}.{body}", header("webhook-id"), header("webhook-timestamp"));
        let tag = STANDARD.decode(header("webhook-signature").trim_start_matches("v1,")).unwrap();
        assert!(hmac::verify(&key, signed.as_bytes(), &tag).is_ok());
        assert!(
            body.contains(&sink.state.reference(1)) && body.contains("\"hard\":true"),
            "{body}"
        );
        assert!(
            sink.feedback_request(2, MailFeedback::Bounced).is_none(),
            "a text message never comes back"
        );
        assert!(sink.feedback_request(3, MailFeedback::Bounced).is_none());
    }

    #[tokio::test]
    async fn only_the_page_itself_can_ask_for_it() {
        let sink = with_two().await;
        let asked = |site: &str, path: &str| {
            let request = ::http::Request::post(path).header("sec-fetch-site", site);
            let request = request.header("host", "localhost:8080").body(Bytes::new()).unwrap();
            page::feedback_request(&sink, page::MOUNT_PATH, &request).is_some()
        };
        assert!(asked("same-origin", "/_sink/1/complained"));
        assert!(!asked("cross-site", "/_sink/1/complained"));
        assert!(!asked("same-origin", "/_sink/1/praised"));
    }
}
