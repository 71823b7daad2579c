//! A [`Failure`] is machinery that broke: neither an outcome nor the caller's mistake.

use std::error::Error;

/// What was being done when something outside our control went wrong.
///
/// It is opaque on purpose: no caller branches on it. An HTTP function logs it once with its chain and
/// answers 500, a queue function lets the message come back.
#[derive(Debug, thiserror::Error)]
#[error("could not {action}")]
pub struct Failure {
    action: &'static str,
    #[source]
    cause: Box<dyn Error + Send + Sync>,
}

/// What can only fail because machinery broke.
pub type Result<T = (), E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// Wraps `cause`, met while trying to `action` ("read the account").
    pub fn new(action: &'static str, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { action, cause: cause.into() }
    }

    /// The failure and everything beneath it, outermost first, for a log line.
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut source = self.source();
        while let Some(error) = source {
            text.push_str(": ");
            text.push_str(&error.to_string());
            source = error.source();
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_reads_from_the_outside_in() {
        let failure = Failure::new("read the account", Failure::new("sign the request", "no key"));
        assert_eq!(
            failure.chain(),
            "could not read the account: could not sign the request: no key"
        );
    }
}
