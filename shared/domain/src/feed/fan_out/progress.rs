//! How far work on an author's followers has come.

use std::collections::BTreeSet;

use super::{PageOfFollowers, Range, split};

/// Which ranges of followers are done: a set that only grows, so a repeated page changes nothing. How
/// followers are split is written once; whoever begins again goes by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// How many ranges there are.
    pub ranges: u8,
    /// Those that are done.
    pub done: BTreeSet<Range>,
}

impl Progress {
    /// The pages that what is left begins with.
    pub fn left(&self) -> Vec<PageOfFollowers> {
        let mut pages = split(self.ranges);
        pages.retain(|page| !self.done.contains(&page.range));
        pages
    }

    /// Whether all are done.
    pub fn is_complete(&self) -> bool {
        self.left().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_when_every_range_is_done_however_often() {
        let mut progress = Progress { ranges: 3, done: BTreeSet::new() };
        // Ranges of another split do not count.
        progress.done.extend(split(9).into_iter().map(|page| page.range));
        for page in split(3) {
            assert!(!progress.is_complete());
            assert!(progress.left().contains(&page));
            progress.done.insert(page.range);
            progress.done.insert(page.range);
            assert_eq!(Range::parse(&page.range.text()), Some(page.range));
        }
        assert!(progress.is_complete());
        assert_eq!(Range::parse("x-1"), None);
    }
}
