//! Who and what a question is about, as callers write it.
//!
//! Guarantee: what comes out fits into a row's key. Absent: a key's secret.

use boundary::http::{Problem, Result};
use boundary::limits::QuotaSubject;

/// The longest name of a user, key or tenant.
pub(crate) const MAX_NAME_LENGTH: usize = 256;

const MAX_PATH_LENGTH: usize = 512;
const MAX_METHOD_LENGTH: usize = 16;

/// The caller that is asked about; anonymous if nothing is said.
pub(crate) fn from_fields(
    user: Option<String>,
    api_key: Option<&str>,
    client_ip: Option<&str>,
    tenant: Option<String>,
) -> Result<QuotaSubject> {
    // A program that sends a whole key is told nothing about its secret, and it is kept nowhere.
    let key_id = |key: &str| key.split_once('.').map_or(key, |(id, _)| id).to_owned();
    let address = |text: &str| {
        text.parse().map_err(|_| Problem::field("clientIp", "an IPv4 or IPv6 address"))
    };
    Ok(QuotaSubject {
        user: named("userId", user)?,
        api_key: named("apiKey", api_key.map(key_id))?,
        ip: client_ip.map(address).transpose()?,
        tenant: named("tenantId", tenant)?,
    })
}

/// The path of what is asked for.
pub(crate) fn resource(path: &str) -> Result<&str> {
    if path.starts_with('/') && path.len() <= MAX_PATH_LENGTH && !path.contains('?') {
        return Ok(path);
    }
    let rule =
        format!("a path that begins with /, at most {MAX_PATH_LENGTH} bytes, without a query");
    Err(Problem::field("resource", rule))
}

/// The method, in capitals; reading if nothing is said.
pub(crate) fn method(method: Option<&str>) -> Result<String> {
    let method = method.unwrap_or("GET");
    let fits = (1..=MAX_METHOD_LENGTH).contains(&method.len())
        && method.bytes().all(|byte| byte.is_ascii_alphabetic());
    if fits { Ok(method.to_ascii_uppercase()) } else { Err(Problem::field("method", "a method")) }
}

fn named(field: &str, name: Option<String>) -> Result<Option<String>> {
    match name {
        Some(name) if !(1..=MAX_NAME_LENGTH).contains(&name.len()) => {
            Err(Problem::field(field, format!("1 to {MAX_NAME_LENGTH} bytes")))
        }
        name => Ok(name),
    }
}
