//! One URL to be fetched, judged before anything is asked of the network.
//!
//! Guarantee: a [`Target`] is http or https, has a host and a port, and no credentials. Hosts are
//! read as browsers read them, so that `2130706433`, `0x7f.1` and `[::ffff:7f00:1]` are the address
//! they stand for and never a name. Absent: whether an address is public, which is judged once for
//! literals and looked-up addresses alike.

use std::net::IpAddr;

use rustls::pki_types::ServerName;
use url::{Host, Url};

use super::{FetchError, ForbiddenUrl};

/// Where a request goes.
#[derive(Debug)]
pub(crate) struct Target {
    url: Url,
    /// As it is resolved: an IPv6 address without its brackets.
    host: String,
    literal: Option<IpAddr>,
    port: u16,
}

impl Target {
    /// Judges a URL that any user may have written.
    pub(crate) fn parse(url: &str) -> Result<Self, FetchError> {
        let url = Url::parse(url).map_err(|_| FetchError::Forbidden(ForbiddenUrl::NotAUrl))?;
        Self::judge(url)
    }

    /// Judges where a redirect leads, relative or not.
    pub(crate) fn join(&self, location: &str) -> Result<Self, FetchError> {
        let url =
            self.url.join(location).map_err(|_| FetchError::Forbidden(ForbiddenUrl::NotAUrl))?;
        Self::judge(url)
    }

    /// Takes a URL from configuration, on any port.
    pub(crate) fn from_configuration(url: Url) -> Result<Self, ForbiddenUrl> {
        Self::new(url)
    }

    fn judge(url: Url) -> Result<Self, FetchError> {
        let target = Self::new(url).map_err(FetchError::Forbidden)?;
        if is_bad(target.port) {
            return Err(FetchError::Forbidden(ForbiddenUrl::Port(target.port)));
        }
        Ok(target)
    }

    fn new(mut url: Url) -> Result<Self, ForbiddenUrl> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(ForbiddenUrl::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ForbiddenUrl::Credentials);
        }
        url.set_fragment(None);
        let port = url.port_or_known_default().ok_or(ForbiddenUrl::NotAUrl)?;
        let (host, literal) = match url.host().ok_or(ForbiddenUrl::NotAUrl)? {
            Host::Domain(name) => (name.to_owned(), None),
            Host::Ipv4(address) => (address.to_string(), Some(IpAddr::V4(address))),
            Host::Ipv6(address) => (address.to_string(), Some(IpAddr::V6(address))),
        };
        Ok(Self { url, host, literal, port })
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn literal(&self) -> Option<IpAddr> {
        self.literal
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> &str {
        self.url.as_str()
    }

    pub(crate) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The name or address that the server's certificate must be for.
    pub(crate) fn server_name(&self) -> Result<ServerName<'static>, FetchError> {
        match self.literal {
            Some(address) => Ok(ServerName::IpAddress(address.into())),
            None => ServerName::try_from(self.host.clone()).map_err(|_| FetchError::Untrusted),
        }
    }

    /// What the `Host` header says: the port only where it is not the scheme's own.
    pub(crate) fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// What the request line says.
    pub(crate) fn path_and_query(&self) -> &str {
        &self.url[url::Position::BeforePath..url::Position::AfterQuery]
    }
}

/// True for the ports that browsers refuse, and for those of databases, brokers and remote shells.
/// Their protocols read lines, and a request's lines can be made to look like commands.
fn is_bad(port: u16) -> bool {
    BAD_PORTS.binary_search(&port).is_ok()
}

/// In order, for the search.
#[rustfmt::skip]
const BAD_PORTS: [u16; 115] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
    103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 445,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 873, 989,
    990, 993, 995, 1433, 1521, 1719, 1720, 1723, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389,
    3659, 4045, 4190, 5060, 5061, 5432, 5672, 5900, 5984, 6000, 6379, 6566, 6665, 6666, 6667, 6668,
    6669, 6679, 6697, 7000, 7001, 8086, 9042, 9092, 9200, 9300, 10080, 10250, 11211, 15672, 26379,
    27017, 27018, 27019, 28015, 61616,
];

#[cfg(test)]
mod tests;
