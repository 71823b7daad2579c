//! What an SDK's failure means. Its own retries are off: it cannot know that a text message, sent
//! twice, is read twice.

use std::error::Error;

use aws_smithy_runtime_api::client::result::{ConnectorError, SdkError};
use aws_smithy_runtime_api::http::Response;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use domain::notifications::{Address, Class, SendOutcome};
use hyper_util::client::legacy;

use crate::classified::refused;
use crate::said::cleaned;
use crate::settings::Patience;

pub(crate) fn once() -> RetryConfig {
    RetryConfig::disabled()
}

/// No longer than that.
pub(crate) fn within(patience: Patience) -> TimeoutConfig {
    let limit = patience.duration();
    TimeoutConfig::builder().operation_timeout(limit).operation_attempt_timeout(limit).build()
}

/// What was answered, as far as it matters.
pub(crate) struct Answer<'a> {
    pub(crate) code: &'a str,
    pub(crate) message: &'a str,
    pub(crate) status: u16,
}

/// What a failed call means: `classify` knows the service's words.
pub(crate) fn handed<E>(
    error: &SdkError<E, Response>,
    to: &Address,
    classify: fn(&Answer<'_>) -> Class,
) -> SendOutcome
where
    E: ProvideErrorMetadata,
{
    let unknown = |said: &str| SendOutcome::Unknown { said: said.to_owned() };
    match error {
        SdkError::ConstructionFailure(_) => {
            refused(Class::Unrecognised, "no request can be made of it")
        }
        SdkError::DispatchFailure(failure) => match failure.as_connector_error() {
            Some(cause) if never_left(cause) => refused(Class::Outage, "AWS cannot be reached"),
            _ => unknown("the line to AWS was cut"),
        },
        SdkError::TimeoutError(_) => unknown("AWS did not answer in time"),
        SdkError::ServiceError(answered) => {
            let (meta, status) = (answered.err().meta(), answered.raw().status().as_u16());
            let (code, message) =
                (meta.code().unwrap_or_default(), meta.message().unwrap_or_default());
            let class = classify(&Answer { code, message, status });
            let wait = answered.raw().headers().get("retry-after");
            SendOutcome::Refused {
                class,
                retry_after_seconds: wait.and_then(|seconds| seconds.parse().ok()),
                said: cleaned(&format!("{status} {code} {message}"), to),
            }
        }
        SdkError::ResponseError(_) | _ => unknown("AWS gave an answer that cannot be read"),
    }
}

/// Only a failure to connect proves that nothing was sent.
fn never_left(cause: &ConnectorError) -> bool {
    let mut next: Option<&(dyn Error + 'static)> = Some(cause);
    while let Some(error) = next {
        if error.downcast_ref::<legacy::Error>().is_some_and(legacy::Error::is_connect) {
            return true;
        }
        next = error.source();
    }
    false
}

/// What every service of AWS says in the same words; nothing if it is the service's own affair.
pub(crate) fn common(answer: &Answer<'_>) -> Option<Class> {
    let code = answer.code;
    let about_us = [
        "AccessDenied",
        "AuthorizationError",
        "ExpiredToken",
        "IncompleteSignature",
        "InvalidClientTokenId",
        "MissingAuthenticationToken",
        "NotAuthorized",
        "OptInRequired",
        "RequestExpired",
        "SignatureDoesNotMatch",
        "UnrecognizedClient",
    ];
    if code.starts_with("Throttl") || code.starts_with("TooManyRequests") || answer.status == 429 {
        return Some(Class::RateLimited);
    }
    let broken = answer.status >= 500 || about_us.iter().any(|start| code.starts_with(start));
    broken.then_some(Class::Outage)
}
