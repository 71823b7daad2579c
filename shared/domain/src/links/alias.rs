//! Aliases: names that people choose for their links, and the reading of either kind from a path.
//!
//! The rules for choosing are stricter than those for reading. A word that is reserved one day may
//! have been given away before, and its link goes on working.

mod reserved;
#[cfg(test)]
mod tests;

use super::code::Code;
use super::profanity::is_profane;
pub(super) use reserved::is_reserved;

/// Why a text is no alias. The messages follow "`customAlias` must be ".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadAlias {
    /// Too short or too long.
    #[error("3 to 50 characters long")]
    Length,
    /// Something other than ASCII letters, digits, `-` and `_`.
    #[error("made of the letters A to Z and a to z, digits, `-` and `_` only")]
    Characters,
    /// A `-` or `_` at one end, where it gets lost in prose.
    #[error("without `-` and `_` at its start and its end")]
    Edges,
    /// A word the service keeps for itself.
    #[error("another word: this one is reserved")]
    Reserved,
    /// A word that offends.
    #[error("another word: this one may offend")]
    Profane,
}

impl Code {
    /// Accepts a name that a user chose for a link. Case counts: `Sale` is not `sale`.
    pub fn alias(text: &str) -> Result<Self, BadAlias> {
        check_form(text)?;
        if is_reserved(text) {
            return Err(BadAlias::Reserved);
        }
        if is_profane(text) {
            return Err(BadAlias::Profane);
        }
        Ok(Self(text.to_owned()))
    }

    /// Accepts the code of an imported link: any that [`Code::parse`] reads, unless it is reserved.
    pub fn imported(text: &str) -> Result<Self, BadAlias> {
        check_form(text)?;
        if is_reserved(text) { Err(BadAlias::Reserved) } else { Ok(Self(text.to_owned())) }
    }

    /// Reads the code or alias of an existing link, by the rules of form alone.
    pub fn parse(text: &str) -> Option<Self> {
        check_form(text).ok().map(|()| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn check_form(text: &str) -> Result<(), BadAlias> {
    let separator = |character| matches!(character, '-' | '_');
    if !(3..=50).contains(&text.chars().count()) {
        Err(BadAlias::Length)
    } else if !text
        .chars()
        .all(|character| character.is_ascii_alphanumeric() || separator(character))
    {
        Err(BadAlias::Characters)
    } else if text.starts_with(separator) || text.ends_with(separator) {
        Err(BadAlias::Edges)
    } else {
        Ok(())
    }
}
