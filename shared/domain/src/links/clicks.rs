//! The message from `redirect` to `count-clicks`: a batch of clicks under one id.
//!
//! Guarantee: a batch that [`ClickBatch::to_json`] writes fits a message and is read back equal, up to
//! the millisecond. The names on the wire have a letter each and what is usual is left out, because
//! messages are billed by size. Absent here: any judgement about the clicks; see [`super::counts`].

mod header;
mod wire;

use jiff::Timestamp;

pub use header::{country, referrer_host, user_agent};
use wire::Wire;

/// The most clicks in a batch: times [`MAX_CLICK_BYTES`] they stay under half of
/// [`MAX_MESSAGE_BYTES`].
pub const MAX_BATCH_CLICKS: usize = 100;

/// The most bytes in a message: 256 KiB, which every SQS queue takes.
pub const MAX_MESSAGE_BYTES: usize = 256 * 1024;

/// The most bytes of a click on the wire, when all its fields are as long as they may be and each
/// character of its code and user agent has to be escaped.
pub const MAX_CLICK_BYTES: usize = 1300;

/// The most bytes in a batch's id.
pub const MAX_ID_LENGTH: usize = 64;

/// The most bytes in a host name, be it a link's domain or a referrer.
pub const MAX_HOST_LENGTH: usize = 253;

/// The most bytes in a link's code.
pub const MAX_CODE_LENGTH: usize = 64;

/// The most bytes of a user agent that are kept; what tells them apart stands before that.
pub const MAX_USER_AGENT_LENGTH: usize = 256;

/// Clicks that are counted together, and only once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClickBatch {
    /// Names the batch; a second delivery has the same.
    pub id: String,
    /// At most [`MAX_BATCH_CLICKS`], in any order.
    pub clicks: Vec<Click>,
}

/// A visit to a link, be it by a person, a robot or a preview crawler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Click {
    /// The link's namespace; empty for the default one.
    pub domain: String,
    /// The link's code there.
    pub code: String,
    /// When; the message keeps milliseconds.
    pub at: Timestamp,
    /// A hash that is the same for the same visitor on the same day.
    pub visitor: u64,
    /// Whether it was a `HEAD`: never counted, but many of them give a robot away.
    pub head: bool,
    /// What [`user_agent`] made of the header.
    pub user_agent: Option<String>,
    /// What [`referrer_host`] made of the header.
    pub referrer: Option<String>,
    /// What [`country`] made of the header.
    pub country: Option<String>,
    /// Which of the link's destinations was chosen, if it has several.
    pub variant: Option<u8>,
    /// Whether the link has a maximum of clicks, so that its total must be compared with it.
    pub limited: bool,
}

/// Why a batch cannot be sent, or a message is not a batch.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// Not the JSON of a batch.
    #[error("this is not a batch of clicks")]
    Json(#[from] serde_json::Error),
    /// Of a version that came later than this reader.
    #[error("version {0} of a batch is not known here")]
    Version(u8),
    /// More clicks than [`MAX_BATCH_CLICKS`].
    #[error("{0} clicks are too many for a batch")]
    TooMany(usize),
    /// A field is empty that may not be, or longer than its bound.
    #[error("{0} is empty or too long")]
    Field(&'static str),
}

impl ClickBatch {
    /// The message's body.
    pub fn to_json(&self) -> Result<String, Malformed> {
        self.check()?;
        Ok(serde_json::to_string(&Wire::from(self))?)
    }

    /// Reads a message's body. Unknown fields are ignored.
    pub fn parse(json: &str) -> Result<Self, Malformed> {
        let batch = serde_json::from_str::<Wire>(json)?.read()?;
        batch.check()?;
        Ok(batch)
    }

    fn check(&self) -> Result<(), Malformed> {
        if self.clicks.len() > MAX_BATCH_CLICKS {
            return Err(Malformed::TooMany(self.clicks.len()));
        }
        check_length("id", &self.id, 1, MAX_ID_LENGTH)?;
        self.clicks.iter().try_for_each(Click::check)
    }
}

impl Click {
    fn check(&self) -> Result<(), Malformed> {
        check_length("domain", &self.domain, 0, MAX_HOST_LENGTH)?;
        check_length("code", &self.code, 1, MAX_CODE_LENGTH)?;
        let optional = [
            ("userAgent", &self.user_agent, MAX_USER_AGENT_LENGTH),
            ("referrer", &self.referrer, MAX_HOST_LENGTH),
            ("country", &self.country, 2),
        ];
        for (field, text, most) in optional {
            check_length(field, text.as_deref().unwrap_or("-"), 1, most)?;
        }
        Ok(())
    }
}

fn check_length(
    field: &'static str,
    text: &str,
    least: usize,
    most: usize,
) -> Result<(), Malformed> {
    if (least..=most).contains(&text.len()) { Ok(()) } else { Err(Malformed::Field(field)) }
}

#[cfg(test)]
mod tests;
