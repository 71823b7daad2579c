//! What keeps a text from being a target.
//!
//! Each reason reads on after "the field must be", and knows no status code.

use url::ParseError;

/// Why a text cannot be a target; says what the text must be instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTarget {
    /// Nothing but spaces.
    #[error("a URL, not an empty text")]
    Empty,
    /// Longer than the rules allow, as written or normalised.
    #[error("at most {0} characters long, also once it is percent-encoded")]
    TooLong(usize),
    /// A control character, a line break or a mark that turns the direction of writing.
    #[error("free of control characters, tabs and line breaks")]
    ControlCharacter,
    /// A backslash, which some clients read as a slash and some do not.
    #[error("free of backslashes (write %5C for one)")]
    Backslash,
    /// Not an absolute URL.
    #[error("an absolute URL such as https://example.org/page")]
    NotAUrl,
    /// Neither `http` nor `https`.
    #[error("a URL that begins with http:// or https://")]
    Scheme,
    /// A user name or password before the host.
    #[error("a URL without a user name or password")]
    Credentials,
    /// Nothing where the host belongs.
    #[error("a URL with a host")]
    NoHost,
    /// A host that cannot be a name or an address.
    #[error("a URL with a valid host name")]
    Host,
    /// A private, loopback, link-local or metadata address, or a name that leads to one.
    #[error("a URL on the public internet, not an internal name or address")]
    Internal,
    /// One of the shortener's own hosts.
    #[error("a URL outside this service, not another short link")]
    OwnHost,
}

impl InvalidTarget {
    /// A stable name for logs, metrics and tables of test vectors.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLong(_) => "too-long",
            Self::ControlCharacter => "control-character",
            Self::Backslash => "backslash",
            Self::NotAUrl => "not-a-url",
            Self::Scheme => "scheme",
            Self::Credentials => "credentials",
            Self::NoHost => "no-host",
            Self::Host => "host",
            Self::Internal => "internal",
            Self::OwnHost => "itself",
        }
    }
}

impl From<ParseError> for InvalidTarget {
    fn from(error: ParseError) -> Self {
        let bad_host = [
            ParseError::IdnaError,
            ParseError::InvalidDomainCharacter,
            ParseError::InvalidIpv4Address,
            ParseError::InvalidIpv6Address,
        ];
        if error == ParseError::EmptyHost {
            Self::NoHost
        } else if bad_host.contains(&error) {
            Self::Host
        } else {
            Self::NotAUrl
        }
    }
}
