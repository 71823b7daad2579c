//! What a failed call of an AWS SDK means. The SDK's own retries are off: it cannot know that a text
//! message, sent twice, is read twice.

use std::error::Error;

use aws_smithy_runtime_api::client::result::{ConnectorError, SdkError};
use aws_smithy_runtime_api::http::Response;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use domain::notifications::{Address, Class, SendOutcome};
use hyper_util::client::legacy;

use crate::outcome::{refused, refused_until, unknown};
use crate::redact::redact;
use crate::settings::Timeout;

pub(crate) fn no_retries() -> RetryConfig {
    RetryConfig::disabled()
}

pub(crate) fn timeouts(timeout: Timeout) -> TimeoutConfig {
    let limit = timeout.duration();
    TimeoutConfig::builder().operation_timeout(limit).operation_attempt_timeout(limit).build()
}

/// What `classify` reads of an error response.
pub(crate) struct ServiceError<'a> {
    pub(crate) code: &'a str,
    pub(crate) message: &'a str,
    pub(crate) status: u16,
}

/// What a failed call means: `classify` knows the service's error codes.
pub(crate) fn outcome<E>(
    error: &SdkError<E, Response>,
    to: &Address,
    classify: fn(&ServiceError<'_>) -> Class,
) -> SendOutcome
where
    E: ProvideErrorMetadata,
{
    match error {
        SdkError::ConstructionFailure(_) => {
            refused(Class::Unrecognised, "no request can be made of it")
        }
        SdkError::DispatchFailure(failure) => match failure.as_connector_error() {
            Some(cause) if failed_to_connect(cause) => {
                refused(Class::Outage, "AWS cannot be reached")
            }
            _ => unknown("the connection to AWS was closed"),
        },
        SdkError::TimeoutError(_) => unknown("AWS did not answer in time"),
        SdkError::ServiceError(failed) => {
            let (meta, status) = (failed.err().meta(), failed.raw().status().as_u16());
            let (code, message) =
                (meta.code().unwrap_or_default(), meta.message().unwrap_or_default());
            let class = classify(&ServiceError { code, message, status });
            let wait = failed.raw().headers().get("retry-after");
            let retry_after = wait.and_then(|seconds| seconds.parse().ok());
            refused_until(class, retry_after, redact(&format!("{status} {code} {message}"), to))
        }
        SdkError::ResponseError(_) | _ => unknown("AWS gave an answer that cannot be read"),
    }
}

/// Only a failure to connect proves that nothing was sent.
fn failed_to_connect(cause: &ConnectorError) -> bool {
    let mut next: Option<&(dyn Error + 'static)> = Some(cause);
    while let Some(error) = next {
        if error.downcast_ref::<legacy::Error>().is_some_and(legacy::Error::is_connect) {
            return true;
        }
        next = error.source();
    }
    false
}

/// The error codes that all services of AWS share; `None` for those of one service.
pub(crate) fn classify_common(error: &ServiceError<'_>) -> Option<Class> {
    let code = error.code;
    let credential_errors = [
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
    if code.starts_with("Throttl") || code.starts_with("TooManyRequests") || error.status == 429 {
        return Some(Class::RateLimited);
    }
    let broken =
        error.status >= 500 || credential_errors.iter().any(|start| code.starts_with(start));
    broken.then_some(Class::Outage)
}
