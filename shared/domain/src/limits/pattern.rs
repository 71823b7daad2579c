//! A pattern of paths, in the template's notation: `/api/v1/jobs/{id}`, `/api/{*rest}`.
//!
//! A parameter is a whole segment and matches one that is not empty; a catch-all is the last
//! segment and matches all that follows, unless that is nothing. Absent: a parameter beside other
//! text in its segment, and braces in text. So two patterns of one [shape](SegmentKind) never
//! conflict in a radix tree unless they are the same, and the shapes alone say which of two
//! patterns is more specific.

use matchit::Router;

/// What a segment of a pattern is; the more specific first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum SegmentKind {
    /// Text, taken literally.
    Text,
    Parameter,
    CatchAll,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Pattern {
    /// The kinds of its segments. Of two that match a path, the lesser is the more specific.
    pub(super) shape: Vec<SegmentKind>,
    /// Its text; patterns that match the same paths have the same.
    pub(super) text: String,
}

pub(super) const MAX_LENGTH: usize = 256;

/// The most parameters: the radix tree panics at 26.
const MAX_PARAMETERS: usize = 16;

impl Pattern {
    /// Reads a pattern; `None` if it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.chars().count() > MAX_LENGTH {
            return None;
        }
        let mut pattern = Self { shape: Vec::new(), text: String::with_capacity(text.len()) };
        for segment in text.strip_prefix('/')?.split('/') {
            pattern.text.push('/');
            pattern.shape.push(kind(segment)?);
            match pattern.shape.last() {
                Some(SegmentKind::Parameter) => pattern.text.push_str("{p}"),
                Some(SegmentKind::CatchAll) => pattern.text.push_str("{*p}"),
                Some(SegmentKind::Text) | None => pattern.text.push_str(segment),
            }
        }
        let parameters =
            pattern.shape.iter().filter(|kind| **kind == SegmentKind::Parameter).count();
        let fits =
            parameters <= MAX_PARAMETERS && Router::new().insert(pattern.text.as_str(), ()).is_ok();
        fits.then_some(pattern)
    }
}

fn kind(segment: &str) -> Option<SegmentKind> {
    let Some(name) = segment.strip_prefix('{') else {
        let odd =
            |c: char| matches!(c, '{' | '}' | '?' | '#') || c.is_whitespace() || c.is_control();
        return (!segment.contains(odd)).then_some(SegmentKind::Text);
    };
    let name = name.strip_suffix('}')?;
    let (kind, name) = name
        .strip_prefix('*')
        .map_or((SegmentKind::Parameter, name), |name| (SegmentKind::CatchAll, name));
    let named = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    named.then_some(kind)
}

#[cfg(test)]
mod tests;
