//! SES (JSON) and SNS (forms and XML), the one call of each that sends something.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::{Refusal, header, json as json_answer, plain, pretty, text};
use crate::http::{Request, Response};
use crate::mail;
use crate::message::ReceivedMessage;

const ERROR_TYPE: HeaderName = HeaderName::from_static("x-amzn-errortype");

/// A mail for SES.
pub(super) fn read_mail(request: &Request) -> Result<ReceivedMessage, Refusal> {
    signed(request)?;
    let body: Value = serde_json::from_slice(request.body())
        .map_err(|_| Refusal::new(400, "BadRequestException"))?;
    let to: Vec<String> =
        body["Destination"]["ToAddresses"].as_array().into_iter().flatten().map(text).collect();
    let from = text(&body["FromEmailAddress"]);
    if to.is_empty() || from.is_empty() {
        return Err(Refusal::new(400, "BadRequestException"));
    }
    if let Some(raw) = body["Content"]["Raw"]["Data"].as_str() {
        let raw = STANDARD.decode(raw).map_err(|_| Refusal::new(400, "BadRequestException"))?;
        return Ok(mail::read(&from, &to, &raw));
    }
    let simple = &body["Content"]["Simple"];
    let named = simple["Headers"].as_array().into_iter().flatten();
    Ok(ReceivedMessage {
        to: to.join(", "),
        from: Some(from),
        title: text(&simple["Subject"]["Data"]),
        text: text(&simple["Body"]["Text"]["Data"]),
        html: simple["Body"]["Html"]["Data"].as_str().map(str::to_owned),
        headers: named.map(|header| (text(&header["Name"]), text(&header["Value"]))).collect(),
        source: pretty(request.body()),
    })
}

pub(super) fn refused_mail(code: u16, reason: &str) -> Response {
    let mut answer =
        json_answer(code, &json!({ "message": format!("the sink was told to say {reason}") }));
    answer
        .headers_mut()
        .extend(HeaderValue::try_from(reason).ok().map(|reason| (ERROR_TYPE, reason)));
    answer
}

/// Whether it is a text message for SNS.
pub(super) fn is_publish(request: &Request) -> bool {
    field(request, "Action") == "Publish"
}

/// A text message for SNS.
pub(super) fn read_sms(request: &Request) -> Result<ReceivedMessage, Refusal> {
    signed(request)?;
    let (to, text) = (field(request, "PhoneNumber"), field(request, "Message"));
    if !to.starts_with('+') || text.is_empty() {
        return Err(Refusal::new(400, "InvalidParameter"));
    }
    Ok(ReceivedMessage { to, source: text.clone(), text, ..ReceivedMessage::default() })
}

pub(super) fn published(id: &str) -> Response {
    let body = format!(
        "<PublishResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><PublishResult>\
         <MessageId>{id}</MessageId></PublishResult><ResponseMetadata>\
         <RequestId>sink</RequestId></ResponseMetadata></PublishResponse>"
    );
    plain(200, &body)
}

pub(super) fn refused_sms(code: u16, reason: &str) -> Response {
    let kind = if code < 500 { "Sender" } else { "Receiver" };
    let body = format!(
        "<ErrorResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><Error>\
         <Type>{kind}</Type><Code>{reason}</Code><Message>the sink was told to</Message></Error>\
         <RequestId>sink</RequestId></ErrorResponse>"
    );
    plain(code, &body)
}

/// The sink has no AWS keys and cannot verify a signature; it requires that there is one.
fn signed(request: &Request) -> Result<(), Refusal> {
    let signed = header(request, "authorization").starts_with("AWS4-HMAC-SHA256 ");
    if signed { Ok(()) } else { Err(Refusal::new(403, "MissingAuthenticationToken")) }
}

fn field(request: &Request, name: &str) -> String {
    let mut fields = form_urlencoded::parse(request.body());
    fields.find(|(found, _)| found == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}
