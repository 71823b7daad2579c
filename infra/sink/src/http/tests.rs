//! Invalid credentials are refused by every emulated provider. That valid ones are accepted is
//! shown by the providers' own tests.

use bytes::Bytes;

use super::{Disconnect, receive, via};
use crate::http::{Request, Response};
use crate::sink::SinkState;
use crate::{ProviderKind, Sink, SinkOptions};

fn request(path: &str, headers: &[(&str, &str)], body: &str) -> Request {
    let mut request = ::http::Request::post(path).version(http::Version::HTTP_2);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Bytes::from(body.to_owned())).unwrap()
}

async fn answer(state: &SinkState, request: &Request) -> Result<Response, Disconnect> {
    receive(via(request), request, state).await
}

#[tokio::test]
async fn nothing_is_accepted_without_valid_credentials() {
    let sink = Sink::start(SinkOptions::default()).await.unwrap();
    let device = format!("/3/device/{}", "ab".repeat(32));
    let wrong = [("authorization", "bearer a.b.c")];
    let hook = [("webhook-id", "n1"), ("webhook-timestamp", "1"), ("webhook-signature", "v1,AAAA")];
    for (who, path, headers, body, status) in [
        (ProviderKind::WebPush, "/push/x", &[][..], "", 403),
        (ProviderKind::WebPush, "/push/x", &[("authorization", "vapid t=a.b.c, k=AAAA")], "", 403),
        (ProviderKind::Fcm, "/v1/projects/sink/messages:send", &wrong, "{}", 401),
        (ProviderKind::Apns, device.as_str(), &[], "{}", 403),
        (ProviderKind::Apns, device.as_str(), &wrong, "{}", 403),
        (ProviderKind::Ses, "/v2/email/outbound-emails", &[], "{}", 403),
        (ProviderKind::Sms, "/", &[], "Action=Publish&PhoneNumber=%2B1&Message=x", 403),
        (ProviderKind::Webhook, "/hook", &[], "{}", 401),
        (ProviderKind::Webhook, "/hook", &hook, "{}", 401),
        (ProviderKind::Webhook, "/", &[], "{}", 401),
    ] {
        let request = request(path, headers, body);
        assert_eq!(via(&request), who, "{path}");
        let answer = answer(&sink.state, &request).await.unwrap();
        assert_eq!(answer.status(), status, "{who:?}");
    }
    assert!(sink.messages().is_empty());
}

#[tokio::test]
async fn a_token_is_issued_for_valid_signatures_only() {
    let sink = Sink::start(SinkOptions::default()).await.unwrap();
    let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
    for form in [String::new(), "grant_type=password".to_owned(), format!("{grant}e30.e30.AAAA")] {
        let refused = super::fcm::token(&sink.state, &request("/token", &[], &form));
        assert_eq!(refused.unwrap_err().answer(ProviderKind::Fcm).status(), 400, "{form}");
    }
}

#[tokio::test]
async fn apns_requires_http_2() {
    let sink = Sink::start(SinkOptions::default()).await.unwrap();
    let mut old = request(&format!("/3/device/{}", "ab".repeat(32)), &[], "{}");
    *old.version_mut() = http::Version::HTTP_11;
    assert_eq!(answer(&sink.state, &old).await.unwrap().status(), 400);
}

#[test]
fn every_name_of_the_sink_leads_to_it_and_no_other() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options =
            SinkOptions { names: vec!["fcm.googleapis.com".to_owned()], ..SinkOptions::default() };
        let sink = Sink::start(options).await.unwrap();
        let closed = egress::Network::system().with_resolver(|_| {
            Box::pin(async { Err(egress::NetworkError::new("resolve", "no network")) })
        });
        let network = sink.network(closed);
        for name in
            ["sink.localhost", "a.b.sink.localhost", "sink.localhost.", "fcm.googleapis.com"]
        {
            let found = network.resolve(name).await.unwrap();
            assert!(found.iter().all(|it| domain::links::public_ip::is_public(*it)), "{name}");
            assert!(network.connect((found[0], 443).into()).await.is_ok(), "{name}");
        }
        for name in
            ["notsink.localhost", "localhost", "sink.localhost.evil.example", "googleapis.com"]
        {
            assert!(network.resolve(name).await.is_err(), "{name}");
        }
    });
}
