//! A post as a caller writes it, validated.

use serde::{Deserialize, Serialize};

use super::Privacy;
use crate::accounts::UserId;
use crate::feed::Rejected;

/// Characters of a post, at most.
pub const MAX_TEXT_LENGTH: usize = 5_000;

/// Pictures and films of a post, at most.
pub const MAX_MEDIA: usize = 10;

const MAX_TAGS: usize = 30;
const MAX_LOCATION_LENGTH: usize = 100;

/// Names an upload, as the call that prepared it did.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MediaId(String);

impl MediaId {
    /// Accepts 1 to 64 letters, digits, `_` and `-`.
    pub fn parse(field: &str, text: &str) -> Result<Self, Rejected> {
        let fits = (1..=64).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        if !fits {
            return Err(Rejected::field(
                field,
                "names of uploads, as the call that prepared them gave",
            ));
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostBody {
    pub text: String,
    pub media: Vec<MediaId>,
    pub privacy: Privacy,
    /// Where it was written, in the author's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// `#topics` in lower case and `@people`, each once, in order.
    pub tags: Vec<String>,
}

/// Says how much: words are in no log.
impl std::fmt::Debug for PostBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body({} bytes, {} media, {:?})", self.text.len(), self.media.len(), self.privacy)
    }
}

/// A post, as a caller writes it.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PostDraft {
    /// The words; may be left out if there is media.
    pub text: Option<String>,
    pub media: Option<Vec<String>>,
    /// `PUBLIC`, `FRIENDS` or `PRIVATE`; public if left out.
    pub privacy: Option<String>,
    pub location: Option<String>,
    pub tags: Option<Vec<String>>,
}

impl PostDraft {
    /// Checks it. What passes on another post needs no words of its own.
    pub fn checked(self, shares: bool) -> Result<PostBody, Rejected> {
        let media = self.media.unwrap_or_default();
        if media.len() > MAX_MEDIA {
            return Err(Rejected::field("media", format!("at most {MAX_MEDIA} uploads")));
        }
        let media = media
            .iter()
            .map(|name| MediaId::parse("media", name))
            .collect::<Result<Vec<_>, _>>()?;
        if (1..media.len()).any(|at| media[..at].contains(&media[at])) {
            return Err(Rejected::field("media", "each upload once"));
        }
        let body = PostBody {
            text: text(self.text.as_deref().unwrap_or_default())?,
            media,
            privacy: privacy(self.privacy.as_deref())?,
            location: location(self.location.as_deref())?,
            tags: tags(&self.tags.unwrap_or_default())?,
        };
        body.require_content(shares)
    }
}

/// A change to a post, as a caller writes it. What is left out stays; media always do.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PostEdit {
    pub text: Option<String>,
    pub privacy: Option<String>,
    /// Where it was written; empty for nowhere.
    pub location: Option<String>,
    pub tags: Option<Vec<String>>,
}

impl PostEdit {
    pub(super) fn applied(self, body: &PostBody, shares: bool) -> Result<PostBody, Rejected> {
        let mut next = body.clone();
        if let Some(words) = self.text {
            next.text = text(&words)?;
        }
        if self.privacy.is_some() {
            next.privacy = privacy(self.privacy.as_deref())?;
        }
        if self.location.is_some() {
            next.location = location(self.location.as_deref())?;
        }
        if let Some(given) = self.tags {
            next.tags = tags(&given)?;
        }
        next.require_content(shares)
    }
}

impl PostBody {
    fn require_content(self, shares: bool) -> Result<Self, Rejected> {
        if self.text.is_empty() && self.media.is_empty() && !shares {
            return Err(Rejected::field("text", "at least a character, or some media"));
        }
        Ok(self)
    }
}

/// Words of at most so many characters, without blanks around and without control characters other
/// than line ends and tabs.
pub(in crate::feed) fn checked_text(
    field: &str,
    given: &str,
    most: usize,
) -> Result<String, Rejected> {
    let given = given.trim();
    let unfit = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if given.chars().count() > most || given.contains(unfit) {
        let rule = format!("at most {most} characters, none of them control characters");
        return Err(Rejected::field(field, rule));
    }
    Ok(given.to_owned())
}

fn text(given: &str) -> Result<String, Rejected> {
    checked_text("text", given, MAX_TEXT_LENGTH)
}

fn privacy(name: Option<&str>) -> Result<Privacy, Rejected> {
    let Some(name) = name else { return Ok(Privacy::default()) };
    Privacy::named(name)
        .ok_or_else(|| Rejected::field("privacy", "`PUBLIC`, `FRIENDS` or `PRIVATE`"))
}

fn location(given: Option<&str>) -> Result<Option<String>, Rejected> {
    let Some(given) = given else { return Ok(None) };
    let given = checked_text("location", given, MAX_LOCATION_LENGTH)?;
    if given.contains(char::is_control) {
        return Err(Rejected::field("location", "one line"));
    }
    Ok((!given.is_empty()).then_some(given))
}

fn tags(given: &[String]) -> Result<Vec<String>, Rejected> {
    let rule = || {
        let rule = "`#` and 1 to 50 letters, digits and `_`, or `@` and a user id";
        Rejected::field("tags", rule)
    };
    let mut tags =
        given.iter().map(|tag| tag_of(tag).ok_or_else(rule)).collect::<Result<Vec<_>, _>>()?;
    tags.sort_unstable();
    tags.dedup();
    if tags.len() > MAX_TAGS {
        return Err(Rejected::field("tags", format!("at most {MAX_TAGS}")));
    }
    Ok(tags)
}

fn tag_of(given: &str) -> Option<String> {
    if let Some(person) = given.strip_prefix('@') {
        return UserId::parse(person).ok().map(|_| given.to_owned());
    }
    let topic = given.strip_prefix('#')?;
    let fits = (1..=50).contains(&topic.chars().count())
        && topic.chars().all(|c| c.is_alphanumeric() || c == '_');
    fits.then(|| given.to_lowercase())
}
