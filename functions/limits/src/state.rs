//! What the handlers share: the table, and the one way to change a document in it.

use boundary::http::{Error, Problem, Request};
use boundary::{Entropy, Host, Misconfigured};
use domain::Timestamp;
use domain::limits::Rejected;
use http::header;
use store::Limits;
use store::limits::{Document, Part, Saved};

/// What the handlers share.
#[derive(Debug)]
pub struct State {
    pub(crate) limits: Limits,
    entropy: Entropy,
}

impl State {
    pub(crate) fn on(host: &Host) -> Result<Self, Misconfigured> {
        Ok(Self { limits: host.limits()?, entropy: host.entropy.clone() })
    }

    /// Saves a document over the version before its own.
    pub(crate) async fn save(&self, part: Part, document: &Document) -> Result<(), Error> {
        won(self.limits.save(part, document, &self.entropy.token()).await?)
    }

    /// Removes a document that is at that version.
    pub(crate) async fn remove(&self, part: Part, id: &str, version: u64) -> Result<(), Error> {
        won(self.limits.remove(part, id, version, &self.entropy.token()).await?)
    }
}

fn won(saved: Saved) -> Result<(), Error> {
    match saved {
        Saved::Saved => Ok(()),
        Saved::Moved => Err(Rejected::Moved.into()),
    }
}

/// A document that the caller decides on now.
pub(crate) fn decided(
    request: &Request,
    id: String,
    version: u64,
    body: String,
    expires_at: Option<Timestamp>,
) -> Result<Document, Problem> {
    let changed_by = request.caller()?.user_id.as_str().to_owned();
    Ok(Document { id, version, body, changed_by, changed_at: request.now, expires_at })
}

/// Holds the caller to `If-Match` if they sent it. `stands` is the version that is there, if any is.
pub(crate) fn check_version(request: &Request, stands: Option<u64>) -> Result<(), Problem> {
    if !request.headers.contains_key(header::IF_MATCH) {
        return Ok(());
    }
    if stands == Some(request.if_match()?) { Ok(()) } else { Err(Problem::moved()) }
}
