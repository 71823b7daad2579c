//! URLs that carry their signature.

use std::time::{Duration, SystemTime};

use aws_sigv4::http_request::{
    PercentEncodingMode, SignableBody, SignableRequest, SignatureLocation, SigningSettings,
    UriPathNormalizationMode, sign,
};
use aws_sigv4::sign::v4;
use aws_smithy_runtime_api::client::identity::Identity;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{Config, Request};

/// What a query may hold as it is: RFC 3986's unreserved characters.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

pub(crate) fn presign(
    config: &Config,
    request: &Request,
    lifetime: Duration,
    now: SystemTime,
) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let url = format!("{}{}", config.endpoint.trim_end_matches('/'), request.path);
    let mut settings = SigningSettings::default();
    settings.signature_location = SignatureLocation::QueryParams;
    settings.percent_encoding_mode = PercentEncodingMode::Single;
    settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
    settings.expires_in = Some(lifetime);
    let identity = Identity::new(config.credentials.clone(), config.credentials.expiry());
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(&config.region)
        .name(config.service.signing_name())
        .time(now)
        .settings(settings)
        .build()?;
    let headers = request.headers.iter().map(|(name, value)| (*name, value.as_str()));
    let signable = SignableRequest::new(
        request.method.as_str(),
        url.as_str(),
        headers,
        SignableBody::UnsignedPayload,
    )?;
    let (instructions, _) = sign(signable, &params.into())?.into_parts();
    let query: Vec<String> = instructions
        .params()
        .iter()
        .map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, QUERY)))
        .collect();
    Ok(format!("{url}?{}", query.join("&")))
}
