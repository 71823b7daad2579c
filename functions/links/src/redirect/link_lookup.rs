//! The link that a request names: by its code, in the namespace of its host.
//!
//! Guarantee: code and namespace fit a key and a message. A path or host that no link can have costs no
//! read.

use boundary::Vars;
use boundary::edge::HttpEvent;
use domain::links::clicks::{MAX_CODE_LENGTH, MAX_HOST_LENGTH};

/// The hosts whose links are in the default namespace.
#[derive(Debug, Clone, Default)]
pub(crate) struct PublicHosts(Vec<String>);

impl PublicHosts {
    /// Those that `PUBLIC_HOSTS` lists; the API's own host and this machine's names always count.
    pub(crate) fn from_vars(vars: &Vars) -> Self {
        let listed = vars.optional("PUBLIC_HOSTS").unwrap_or_default().split(',');
        let hosts = listed.map(|host| host.trim().to_ascii_lowercase());
        Self(hosts.filter(|host| !host.is_empty()).collect())
    }

    /// The namespace that a `Host` header selects; `None` if it is no host.
    fn namespace(&self, header: Option<&str>) -> Option<String> {
        let header = header.unwrap_or_default();
        let host = without_port(header).trim_end_matches('.').to_ascii_lowercase();
        let space = domain::links::domain::namespace(&host, &self.0);
        let fits = space.len() <= MAX_HOST_LENGTH
            && space.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'));
        fits.then_some(space)
    }
}

/// A code in a namespace, and whether its preview is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinkLookup {
    /// The namespace, a `#`, and the code: the cache's key.
    pub(crate) key: String,
    code_at: usize,
    /// Whether to show where the link leads instead of redirecting (`/{code}+`).
    pub(crate) preview: bool,
}

impl LinkLookup {
    /// `None` if there can be no such link.
    pub(crate) fn from_event(event: &HttpEvent, hosts: &PublicHosts) -> Option<Self> {
        let path = event.raw_path.strip_prefix('/')?;
        let (code, preview) = match path.strip_suffix('+') {
            Some(code) => (code, true),
            None => (path, false),
        };
        let is_code = (1..=MAX_CODE_LENGTH).contains(&code.len())
            && code.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        if !is_code {
            return None;
        }
        let mut key = hosts.namespace(event.headers.host.as_deref())?;
        key.push('#');
        let code_at = key.len();
        key.push_str(code);
        Some(Self { key, code_at, preview })
    }

    pub(crate) fn domain(&self) -> &str {
        &self.key[..self.code_at - 1]
    }

    pub(crate) fn code(&self) -> &str {
        &self.key[self.code_at..]
    }
}

fn without_port(header: &str) -> &str {
    if header.starts_with('[') {
        return header.find(']').map_or(header, |end| &header[..=end]);
    }
    header.split_once(':').map_or(header, |(host, _)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> PublicHosts {
        PublicHosts::from_vars(&Vars::from_iter([(
            "PUBLIC_HOSTS".to_owned(),
            " s.example.org,GO.example.org ,".to_owned(),
        )]))
    }

    #[test]
    fn a_host_selects_its_namespace() {
        for (header, namespace) in [
            (None, Some("")),
            (Some("s.example.org"), Some("")),
            (Some("Go.Example.org:8443"), Some("")),
            (Some("go.example.org."), Some("")),
            (Some("abc123.execute-api.eu-west-1.amazonaws.com"), Some("")),
            (Some("localhost:3000"), Some("")),
            (Some("127.0.0.1:3000"), Some("")),
            (Some("[::1]:3000"), Some("")),
            (Some("Links.Example.com:443"), Some("links.example.com")),
            (
                Some("execute-api.amazonaws.com.evil.test"),
                Some("execute-api.amazonaws.com.evil.test"),
            ),
            (Some("a#b"), None),
            (Some("a b"), None),
            (Some("käse.example"), None),
        ] {
            assert_eq!(hosts().namespace(header).as_deref(), namespace, "{header:?}");
        }
        assert_eq!(hosts().namespace(Some(&"a".repeat(254))), None);
    }

    #[test]
    fn a_path_is_a_code_or_nothing() {
        let lookup = |path: &str| {
            let mut event = HttpEvent::default();
            event.raw_path = path.to_owned();
            LinkLookup::from_event(&event, &hosts())
        };
        for (path, code, preview) in
            [("/abc", "abc", false), ("/abc+", "abc", true), ("/a-b_C9", "a-b_C9", false)]
        {
            let lookup = lookup(path).unwrap();
            assert_eq!((lookup.domain(), lookup.code(), lookup.preview), ("", code, preview));
        }
        let long = format!("/{}", "a".repeat(65));
        for path in ["", "/", "/+", "abc", "/a/b", "/a#b", "/a b", "/ä", "/abc++", "/a\r\nb", &long]
        {
            assert_eq!(lookup(path), None, "{path}");
        }
    }
}
