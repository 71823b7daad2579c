//! How far work on an author's followers has come.

use std::collections::BTreeSet;

use super::{FollowerPage, SlotRange, split_slots};

/// Which ranges of followers are done: a set that only grows, so a repeated page changes nothing. How
/// followers are split is written once; a repeat goes by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FanOutProgress {
    pub ranges: u8,
    pub done: BTreeSet<SlotRange>,
}

impl FanOutProgress {
    /// The pages that what is left begins with.
    pub fn remaining_pages(&self) -> Vec<FollowerPage> {
        let mut pages = split_slots(self.ranges);
        pages.retain(|page| !self.done.contains(&page.range));
        pages
    }

    pub fn is_complete(&self) -> bool {
        self.remaining_pages().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_when_every_range_is_done_however_often() {
        let mut progress = FanOutProgress { ranges: 3, done: BTreeSet::new() };
        // Ranges of another split do not count.
        progress.done.extend(split_slots(9).into_iter().map(|page| page.range));
        for page in split_slots(3) {
            assert!(!progress.is_complete());
            assert!(progress.remaining_pages().contains(&page));
            progress.done.insert(page.range);
            progress.done.insert(page.range);
            assert_eq!(SlotRange::parse(&page.range.text()), Some(page.range));
        }
        assert!(progress.is_complete());
        assert_eq!(SlotRange::parse("x-1"), None);
    }
}
