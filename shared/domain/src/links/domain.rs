//! Custom domains: any user may claim one, and the first to prove control of its DNS owns it.
//!
//! A claim is a row of its own for each claimant, so that a claim without proof keeps no other user
//! from the domain; verifying makes its claimant the domain's only owner.

use crate::Rejected;
use crate::Timestamp;
use crate::accounts::UserId;

/// The label under which the proof is published.
pub const LABEL: &str = "_switchyard";

/// A domain name fit to carry links: lower case, ASCII, no port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DomainName(String);

impl DomainName {
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let name = text.trim().trim_end_matches('.').to_ascii_lowercase();
        let label = |label: &str| {
            (1..=63).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let labels: Vec<&str> = name.split('.').collect();
        let numeric = labels.last().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit()));
        let reserved = ["localhost", "local", "internal", "amazonaws", "onion", "arpa"]
            .iter()
            .any(|word| labels.contains(word));
        if labels.len() < 2
            || name.len() > 253
            || numeric
            || reserved
            || !labels.iter().all(|l| label(l))
        {
            let rule = "a public domain name like links.example.com, in ASCII";
            return Err(Rejected::invalid("domain", rule));
        }
        Ok(Self(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the TXT record that holds the proof.
    pub fn record_name(&self) -> String {
        format!("{LABEL}.{}", self.0)
    }
}

/// The namespace of links that a host stands for: its own name, or the empty one for the service's
/// own hosts, for what API Gateway calls it, and for a machine at home.
pub fn namespace(host: &str, own: &[impl AsRef<str>]) -> String {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let gateway = name.contains(".execute-api.")
        && (name.ends_with(".amazonaws.com") || name.ends_with(".amazonaws.com.cn"));
    let ours = own.iter().any(|own| own.as_ref() == name)
        || name.is_empty()
        || name == "localhost"
        || name.ends_with(".localhost")
        || name.starts_with('[')
        || name.parse::<std::net::Ipv4Addr>().is_ok()
        || gateway;
    if ours { String::new() } else { name }
}

/// A user's claim to a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainClaim {
    pub name: DomainName,
    pub owner: UserId,
    /// Random; part of the proof.
    pub token: String,
    pub created_at: Timestamp,
    pub verified_at: Option<Timestamp>,
}

impl DomainClaim {
    /// The value of the TXT record that proves it.
    pub fn proof(&self) -> String {
        format!("switchyard-verification={}", self.token)
    }

    /// Whether one of the published texts proves it.
    pub fn is_proven_by(&self, texts: &[String]) -> bool {
        let proof = self.proof();
        texts.iter().any(|text| text.trim() == proof)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_names_are_domains() {
        for (text, name) in [("Links.Example.COM.", "links.example.com"), ("a-b.co", "a-b.co")] {
            assert_eq!(DomainName::parse(text).unwrap().as_str(), name);
        }
        for wrong in [
            "",
            "example",
            "-a.com",
            "a-.com",
            "a..com",
            "1.2.3.4",
            "localhost",
            "x.localhost",
            "a.local",
            "exa mple.com",
            "http://a.com",
            "a.com/x",
            "a.com:80",
            "[::1]",
            "ä.com",
            "abc.execute-api.us-east-1.amazonaws.com",
        ] {
            assert!(DomainName::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_host_stands_for_its_own_links_unless_it_is_ours() {
        for (host, space) in [
            ("links.example.com", "links.example.com"),
            ("Links.Example.com.", "links.example.com"),
            ("sy.example", ""),
            ("abc.execute-api.us-east-1.amazonaws.com", ""),
            ("localhost", ""),
            ("127.0.0.1", ""),
            ("[::1]", ""),
            ("", ""),
        ] {
            assert_eq!(namespace(host, &["sy.example"]), space, "{host}");
        }
    }

    #[test]
    fn only_the_very_text_proves_a_claim() {
        let claim = DomainClaim {
            name: DomainName::parse("links.example.com").unwrap(),
            owner: UserId::parse("ada").unwrap(),
            token: "abc".to_owned(),
            created_at: Timestamp::UNIX_EPOCH,
            verified_at: None,
        };
        assert!(claim.is_proven_by(&["x".to_owned(), "switchyard-verification=abc".to_owned()]));
        assert!(!claim.is_proven_by(&["switchyard-verification=abcd".to_owned()]));
        assert!(!claim.is_proven_by(&[]));
    }
}
