//! The state that the handlers share.

use std::collections::HashMap;

use parking_lot::Mutex as Lock;

use crate::store::Links;
use boundary::http::Problem;
use boundary::{Entropy, Host, Misconfigured};
use domain::links::code::{CodeKey, CodeRange};
use domain::links::target::TargetRules;
use domain::links::{Code, Target};
use domain::{Result, Timestamp, hex};
use egress::{Fetcher, Network, Reputation};
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

use crate::http::destination_check::Blocklist;
use crate::http::link_ref::parse_domain;
use crate::http::request::Request;

#[derive(Debug)]
pub struct App {
    pub(crate) links: Links,
    pub(crate) entropy: Entropy,
    pub(crate) network: Network,
    max_url_length: usize,
    public_hosts: Vec<String>,
    pub(crate) reputation: Reputation,
    pub(crate) fetcher: Fetcher,
    codes: Mutex<Option<LeasedCodes>>,
    pub(crate) blocklist: Mutex<Option<Blocklist>>,
    salt: Lock<Option<(String, [u8; 32])>>,
    pub(crate) foreign_hosts: Lock<HashMap<String, Timestamp>>,
}

#[derive(Debug)]
struct LeasedCodes {
    key: CodeKey,
    range: CodeRange,
}

impl App {
    pub(crate) fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let max_url_length = host.vars.parsed(
            "MAX_URL_LENGTH",
            |text| text.parse().ok().filter(|n| (64..=8_192).contains(n)),
            "a number of characters from 64 to 8192",
        )?;
        let public = host.vars.optional("PUBLIC_HOSTS").unwrap_or_default();
        Ok(Self {
            links: Links::from_host(host)?,
            entropy: host.entropy.clone(),
            fetcher: Fetcher::new(host.network.clone()),
            network: host.network.clone(),
            max_url_length: max_url_length.unwrap_or(2_048),
            public_hosts: public
                .split(',')
                .map(|host| host.trim().to_ascii_lowercase())
                .filter(|host| !host.is_empty())
                .collect(),
            reputation: Reputation::from_key(host.vars.optional("WEB_RISK_KEY")),
            codes: Mutex::new(None),
            blocklist: Mutex::new(None),
            salt: Lock::new(None),
            foreign_hosts: Lock::default(),
        })
    }

    /// A destination that may be linked to: well-formed, public, not this service.
    pub(crate) fn target(
        &self,
        field: &str,
        text: &str,
        request: &Request,
    ) -> Result<Target, Problem> {
        let here = request.host();
        let mut own: Vec<&str> = self.public_hosts.iter().map(String::as_str).collect();
        own.push(&here);
        let rules = TargetRules { max_length: self.max_url_length, own_hosts: &own };
        Target::parse(text, &rules).map_err(|invalid| Problem::field(field, invalid))
    }

    /// A new code: that of the next number of a leased range.
    pub(crate) async fn next_code(&self) -> Result<Code> {
        let mut held = self.codes.lock().await;
        loop {
            if let Some(codes) = held.as_mut()
                && let Some(code) = codes.range.next_code(&codes.key)
            {
                return Ok(code);
            }
            let fresh = CodeKey::from_bytes(self.entropy.bytes());
            let (key, range) = self.links.lease_codes(&fresh).await?;
            *held = Some(LeasedCodes { key, range });
        }
    }

    /// The owner of an idempotency key: the user, or a hash of the address with the day's salt.
    pub(crate) async fn idempotency_scope(&self, request: &Request) -> Result<String, Problem> {
        if let Some(principal) = request.principal() {
            return Ok(format!("user#{}", principal.user_id.as_str()));
        }
        let salt = self.salt(request.now).await?;
        let mut digest = Sha256::new();
        digest.update(salt);
        digest.update(request.network().as_bytes());
        Ok(format!("address#{}", hex(&digest.finalize()[..8])))
    }

    async fn salt(&self, now: Timestamp) -> Result<[u8; 32]> {
        let day = domain::links::counts::day_of(now);
        let held = self.salt.lock().clone();
        if let Some((held_day, salt)) = held
            && held_day == day
        {
            return Ok(salt);
        }
        let salt = self.links.salt(&day, self.entropy.bytes(), now).await?;
        *self.salt.lock() = Some((day, salt));
        Ok(salt)
    }

    /// The short URL of a link, on the origin of this request.
    pub(crate) fn short_url(&self, domain: &str, code: &Code, request: &Request) -> String {
        format!("{}/{}", self.base(domain, request), code.as_str())
    }

    /// Scheme and host of a domain's links.
    pub(crate) fn base(&self, domain: &str, request: &Request) -> String {
        if !domain.is_empty() {
            return format!("https://{domain}");
        }
        if let Some(host) = self.public_hosts.first() {
            return format!("https://{host}");
        }
        request.origin()
    }

    /// The namespace of a visitor's request: the query's domain, or that of the host.
    pub(crate) fn namespace(
        &self,
        named: Option<&str>,
        request: &Request,
    ) -> Result<String, Problem> {
        let named = parse_domain(named)?;
        if !named.is_empty() {
            return Ok(named);
        }
        let own: Vec<&str> = self.public_hosts.iter().map(String::as_str).collect();
        Ok(domain::links::domain::namespace(&request.host(), &own))
    }
}
