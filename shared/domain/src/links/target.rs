//! Where a link may lead: the rules that turn a caller's text into a [`Target`].
//!
//! Guarantee: a parsed target is an absolute `http` or `https` URL of printable ASCII without
//! spaces, so it fits a `Location` header as it is, and its host is neither a non-public address in
//! any notation, nor an internal name, nor the shortener itself. Absent: DNS. A public name can
//! still point inwards, so a client that fetches a target asks [`super::public_ip`] before connecting.

use std::net::IpAddr;

use sha2::{Digest, Sha256};
use url::Url;

use crate::hex;

mod host;
mod invalid;
mod query;
mod warning;

pub use invalid::InvalidTarget;
pub use warning::Warning;

/// Where a link leads: an absolute http(s) URL, ASCII only, safe to put into a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target(String);

/// What differs from one installation to the next.
#[derive(Debug, Clone, Copy)]
pub struct TargetRules<'a> {
    /// The most characters a URL may have; more than [`TargetRules::MAX_LENGTH`] counts as that.
    pub max_length: usize,
    /// The hosts the shortener answers on: lower case, no port.
    pub own_hosts: &'a [&'a str],
}

impl TargetRules<'_> {
    /// What [`TargetRules::max_length`] is unless an installation says otherwise: what browsers and
    /// crawlers agree on.
    pub const DEFAULT_LENGTH: usize = 2_048;
    /// The most it can be: a header longer than this is refused by common servers and proxies.
    pub const MAX_LENGTH: usize = 8_192;
}

impl Target {
    /// Checks and normalises what a caller wrote. Spaces at the ends are trimmed, and nothing else
    /// is repaired in silence that a browser would repair.
    pub fn parse(text: &str, rules: &TargetRules<'_>) -> Result<Self, InvalidTarget> {
        let max_length = rules.max_length.min(TargetRules::MAX_LENGTH);
        let text = text.trim_matches(' ');
        check_text(text, max_length)?;
        check_authority(after_scheme(text)?)?;
        let mut url = Url::parse(text)?;
        without_final_dot(&mut url)?;
        let target = Self(url.into());
        if rules.own_hosts.iter().any(|own| own.eq_ignore_ascii_case(target.host())) {
            return Err(InvalidTarget::OwnHost);
        }
        host::check(target.host())?;
        if target.0.len() > max_length {
            return Err(InvalidTarget::TooLong(max_length));
        }
        // The parser promises this; a header that depends on it does not take its word for it.
        let printable = target.0.bytes().all(|byte| byte.is_ascii_graphic());
        if printable { Ok(target) } else { Err(InvalidTarget::NotAUrl) }
    }

    /// A target that was checked before it was stored.
    pub fn stored(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The normalised URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host in ASCII and lower case: no port, no final dot, no brackets around IPv6.
    pub fn host(&self) -> &str {
        let (host, _) = self.host_and_port();
        host
    }

    /// SHA-256 of the URL without its fragment, which no server ever sees.
    pub fn fingerprint(&self) -> [u8; 32] {
        let (sent, _) = query::split_fragment(&self.0);
        Sha256::digest(sent.as_bytes()).into()
    }

    /// What makes the destination suspicious.
    pub fn warnings(&self) -> Vec<Warning> {
        let (host, port) = self.host_and_port();
        warning::warnings_of(host, port)
    }

    /// What a blocklist could hold that would match: `host:` with the host and each parent domain
    /// of at least two labels, then `url:` with the fingerprint in hex.
    pub fn block_keys(&self) -> Vec<String> {
        let host = self.host();
        let mut keys = vec![format!("host:{host}")];
        if host.parse::<IpAddr>().is_err() {
            let parents = host.match_indices('.').map(|(dot, _)| &host[dot + 1..]);
            let domains = parents.filter(|parent| parent.contains('.'));
            keys.extend(domains.map(|parent| format!("host:{parent}")));
        }
        keys.push(format!("url:{}", hex(&self.fingerprint())));
        keys
    }

    /// The URL with a visitor's raw query added to its own, before the fragment. What may not stand
    /// in a query is percent-encoded; what is encoded already stays as it is.
    pub fn with_query(&self, raw_query: &str) -> String {
        query::append(&self.0, raw_query)
    }

    /// The target with these query parameters, each in place of any of the same name. The rest of
    /// the query stays byte for byte, since it may be signed. The result can be longer than what
    /// was parsed.
    #[must_use]
    pub fn with_parameters(&self, pairs: &[(&str, &str)]) -> Self {
        Self(query::set(&self.0, pairs))
    }

    fn host_and_port(&self) -> (&str, Option<&str>) {
        let (_, rest) = self.0.split_once("://").unwrap_or_default();
        let authority = authority(rest);
        if let Some((host, port)) = authority.strip_prefix('[').and_then(|v6| v6.split_once(']')) {
            return (host, port.strip_prefix(':'));
        }
        match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        }
    }
}

fn check_text(text: &str, max_length: usize) -> Result<(), InvalidTarget> {
    if text.is_empty() {
        return Err(InvalidTarget::Empty);
    }
    if text.chars().count() > max_length {
        return Err(InvalidTarget::TooLong(max_length));
    }
    // The parser drops tabs and line breaks and reads a backslash as a slash, so that what a person
    // or a filter sees is not what gets called.
    if text.contains(is_control) {
        return Err(InvalidTarget::ControlCharacter);
    }
    if text.contains('\\') { Err(InvalidTarget::Backslash) } else { Ok(()) }
}

/// Control characters, line and paragraph separators, and the marks that reorder text on screen.
fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

/// What follows `http://` or `https://`. The parser would also take `http:example.org` and any
/// number of slashes.
fn after_scheme(text: &str) -> Result<&str, InvalidTarget> {
    let (scheme, rest) = text.split_once(':').ok_or(InvalidTarget::NotAUrl)?;
    let well_formed = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    if !well_formed {
        return Err(InvalidTarget::NotAUrl);
    }
    if !["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web)) {
        return Err(InvalidTarget::Scheme);
    }
    rest.strip_prefix("//").ok_or(InvalidTarget::NotAUrl)
}

fn check_authority(rest: &str) -> Result<(), InvalidTarget> {
    let authority = authority(rest);
    if authority.contains('@') {
        return Err(InvalidTarget::Credentials);
    }
    if authority.is_empty() { Err(InvalidTarget::NoHost) } else { Ok(()) }
}

fn authority(rest: &str) -> &str {
    rest.find(['/', '?', '#']).map_or(rest, |end| &rest[..end])
}

/// `example.org.` and `example.org` are one host, so they get one fingerprint and one block key.
/// A second dot is an empty label, and taking it off as well would make `8.8.8.8..` an address.
fn without_final_dot(url: &mut Url) -> Result<(), InvalidTarget> {
    let shorter = url.host_str().and_then(|host| host.strip_suffix('.')).map(str::to_owned);
    match shorter {
        None => Ok(()),
        Some(host) if host.ends_with('.') => Err(InvalidTarget::Host),
        Some(host) => Ok(url.set_host(Some(&host))?),
    }
}

#[cfg(test)]
mod tests;
