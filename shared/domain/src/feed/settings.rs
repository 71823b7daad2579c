//! The numbers that can be changed without changing a rule. Tests make them small.

/// What a feed is run with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// From so many followers on an author's posts are pulled.
    pub pull_from: u64,
    /// Under so many followers they are pushed again.
    pub push_below: u64,
    /// Who was away for so long gets no writes.
    pub dormant_seconds: i64,
    /// References that a timeline keeps.
    pub kept: usize,
    /// References that an author's row of recent posts keeps.
    pub recents: usize,
    /// Followers of one page of a fan-out.
    pub page: usize,
    /// Candidates that are looked at in one go. A batch read takes as many keys.
    pub gathered: usize,
}

impl Settings {
    /// What the documents say.
    pub const DEFAULT: Self = Self {
        pull_from: 10_000,
        push_below: 9_000,
        dormant_seconds: 7 * 86_400,
        kept: 1_000,
        recents: 100,
        page: 200,
        gathered: 100,
    };
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}
