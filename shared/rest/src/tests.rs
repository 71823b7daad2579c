//! What is signed is what AWS documents, and refusals are read as services write them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use aws_credential_types::Credentials;
use aws_smithy_runtime_api::client::http::{
    HttpConnectorFuture, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::shared::IntoShared;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use http::Method;

use super::*;

/// Answers every call with these, one after the other; the last one again and again.
#[derive(Debug)]
struct Answers(Vec<(u16, &'static str)>, AtomicUsize);

impl aws_smithy_runtime_api::client::http::HttpConnector for Answers {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        assert!(request.headers().get("authorization").is_some_and(|it| it.contains("/s3/")));
        let nth = self.1.fetch_add(1, Ordering::SeqCst);
        let (status, body) = self.0[nth.min(self.0.len() - 1)];
        let response = HttpResponse::new(status.try_into().unwrap(), SdkBody::from(body));
        HttpConnectorFuture::ready(Ok(response))
    }
}

fn client(answers: &[(u16, &'static str)]) -> Client {
    let connector: SharedHttpConnector =
        Answers(answers.to_vec(), AtomicUsize::new(0)).into_shared();
    Client::new(Config {
        service: Service::S3,
        endpoint: "https://examplebucket.s3.amazonaws.com".to_owned(),
        region: "us-east-1".to_owned(),
        credentials: Credentials::new(
            "AKIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            None,
            None,
            "test",
        ),
        http_client: http_client_fn(move |_, _| connector.clone()),
        retries: RetryConfig::standard().with_initial_backoff(Duration::from_millis(1)),
        timeouts: TimeoutConfig::disabled(),
    })
}

#[test]
fn the_documented_example_has_the_documented_signature() {
    let config = client(&[(200, "")]).config;
    let second = UNIX_EPOCH + Duration::from_hours(380_376);
    let request = Request::new(Method::GET, "/test.txt");
    let url = presign::presign(&config, &request, Duration::from_hours(24), second).unwrap();
    assert!(
        url.ends_with("aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"),
        "{url}"
    );
}

#[tokio::test]
async fn what_passes_is_tried_again_and_what_is_refused_is_not() {
    let found = client(&[(503, ""), (200, "here")]).send(Request::new(Method::GET, "/a")).await;
    assert_eq!(found.unwrap().body, "here");
    let refusal = "<?xml?><Error><Code>NoSuchKey</Code><Message>Not there.</Message></Error>";
    let refused = client(&[(404, refusal), (200, "")]).send(Request::new(Method::GET, "/a")).await;
    let Err(SdkError::ServiceError(refused)) = refused else { panic!("{refused:?}") };
    let refused = refused.into_err();
    assert_eq!((refused.status(), refused.code()), (404, Some("NoSuchKey")));
    assert_eq!(refused.meta().message(), Some("Not there."));
}

#[tokio::test]
async fn a_code_is_found_in_a_json_body_too() {
    let refusal = r#"{"__type": "com.amazonaws#MessageRejected", "message": "No."}"#;
    let refused = client(&[(400, refusal)]).send(Request::new(Method::GET, "/a")).await;
    let Err(SdkError::ServiceError(refused)) = refused else { panic!("{refused:?}") };
    let refused = refused.into_err();
    assert_eq!((refused.code(), refused.message()), (Some("MessageRejected"), Some("No.")));
}
