//! What is known about an address: whether a list of dangerous ones has it.
//!
//! Guarantee: the key shows in no error and in no debug output. Absent: caching, and a judgement of
//! what to do when the list cannot be asked; callers decide whether silence lets a link through.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use url::Url;

use crate::fetch::{Fetcher, Forbidden, Limits, NotFetched};

const LIMITS: Limits = Limits { bytes: 64 * 1024, hops: 0, total: Duration::from_secs(3) };
const THREATS: [&str; 3] = ["MALWARE", "SOCIAL_ENGINEERING", "UNWANTED_SOFTWARE"];

/// Whom to ask.
#[derive(Clone, Default)]
pub enum Reputation {
    /// Nobody: every address is clean.
    #[default]
    Off,
    /// Google's Web Risk, or what speaks like it.
    WebRisk {
        /// `https://webrisk.googleapis.com`; comes from configuration and is trusted.
        endpoint: String,
        /// Google's name for who pays.
        key: String,
    },
}

/// What the list says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It does not have the address.
    Clean,
    /// It has, as the named threat.
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

    /// Looks `url` up.
    pub async fn check(&self, fetcher: &Fetcher, url: &str) -> Result<Verdict, NotFetched> {
        match self {
            Self::Off => Ok(Verdict::Clean),
            Self::WebRisk { endpoint, key } => {
                let page = fetcher.get_trusted(search(endpoint, key, url)?, LIMITS).await?;
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

fn search(endpoint: &str, key: &str, url: &str) -> Result<Url, NotFetched> {
    let address = format!("{}/v1/uris:search", endpoint.trim_end_matches('/'));
    let mut search = Url::parse(&address).map_err(|_| NotFetched::Forbidden(Forbidden::NotAUrl))?;
    search
        .query_pairs_mut()
        .extend_pairs(THREATS.map(|threat| ("threatTypes", threat)))
        .append_pair("uri", url)
        .append_pair("key", key);
    Ok(search)
}

#[derive(Deserialize)]
struct Found {
    threat: Option<Threat>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Threat {
    #[serde(default)]
    threat_types: Vec<String>,
}

/// An answer without a threat is a clean one; a threat without a name is still a threat.
fn read(body: &[u8]) -> Result<Verdict, NotFetched> {
    let found: Found = serde_json::from_slice(body).map_err(|_| NotFetched::NotHttp)?;
    let Some(threat) = found.threat else { return Ok(Verdict::Clean) };
    let name = threat.threat_types.into_iter().next();
    Ok(Verdict::Listed(name.unwrap_or_else(|| "THREAT_TYPE_UNSPECIFIED".to_owned())))
}

#[cfg(test)]
mod tests;
