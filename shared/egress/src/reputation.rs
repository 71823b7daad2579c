//! Whether a list of dangerous URLs has one: Google's Web Risk.
//!
//! Guarantee: the key shows in no error and in no debug output. Absent: caching, and a judgement of
//! what to do when the list cannot be reached; callers decide whether that lets a link through.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use url::Url;

use crate::fetch::{FetchError, FetchLimits, Fetcher, ForbiddenUrl};

const LIMITS: FetchLimits =
    FetchLimits { bytes: 64 * 1024, redirects: 0, timeout: Duration::from_secs(3) };
const THREATS: [&str; 3] = ["MALWARE", "SOCIAL_ENGINEERING", "UNWANTED_SOFTWARE"];

#[derive(Clone, Default)]
pub enum Reputation {
    /// No list: every URL is clean.
    #[default]
    Off,
    /// Google's Web Risk, or a server with its API.
    WebRisk {
        /// `https://webrisk.googleapis.com`; comes from configuration and is trusted.
        endpoint: String,
        key: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReputationVerdict {
    Clean,
    /// With the name of the threat.
    Listed(String),
}

impl Reputation {
    /// Google's Web Risk, if there is a key for it.
    pub fn from_key(key: Option<&str>) -> Self {
        key.map_or(Self::Off, |key| Self::WebRisk {
            endpoint: "https://webrisk.googleapis.com".to_owned(),
            key: key.to_owned(),
        })
    }

    pub async fn check(
        &self,
        fetcher: &Fetcher,
        url: &str,
    ) -> Result<ReputationVerdict, FetchError> {
        match self {
            Self::Off => Ok(ReputationVerdict::Clean),
            Self::WebRisk { endpoint, key } => {
                let page = fetcher.get_trusted(search_url(endpoint, key, url)?, LIMITS).await?;
                read(&page.body)
            }
        }
    }
}

impl fmt::Debug for Reputation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("Off"),
            Self::WebRisk { endpoint, key: _ } => {
                f.debug_struct("WebRisk").field("endpoint", endpoint).finish_non_exhaustive()
            }
        }
    }
}

fn search_url(endpoint: &str, key: &str, url: &str) -> Result<Url, FetchError> {
    let address = format!("{}/v1/uris:search", endpoint.trim_end_matches('/'));
    let mut search =
        Url::parse(&address).map_err(|_| FetchError::Forbidden(ForbiddenUrl::NotAUrl))?;
    search
        .query_pairs_mut()
        .extend_pairs(THREATS.map(|threat| ("threatTypes", threat)))
        .append_pair("uri", url)
        .append_pair("key", key);
    Ok(search)
}

#[derive(Deserialize)]
struct SearchResponse {
    threat: Option<Threat>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Threat {
    #[serde(default)]
    threat_types: Vec<String>,
}

/// An answer without a threat is a clean one; a threat without a name is still a threat.
fn read(body: &[u8]) -> Result<ReputationVerdict, FetchError> {
    let response: SearchResponse =
        serde_json::from_slice(body).map_err(|_| FetchError::InvalidHttp)?;
    let Some(threat) = response.threat else { return Ok(ReputationVerdict::Clean) };
    let name = threat.threat_types.into_iter().next();
    Ok(ReputationVerdict::Listed(name.unwrap_or_else(|| "THREAT_TYPE_UNSPECIFIED".to_owned())))
}

#[cfg(test)]
mod tests;
