//! The flat names under which counters are stored: `n`, `bots`, `previews`, and a letter with `#` before
//! the key of a dimension.
//!
//! Guarantee: adding the attributes of counts one by one gives the counts, but for the visitors. Absent: zeros.

use super::{ClickCounts, Dimension};

/// Each counter that is not zero, by its flat name.
pub fn attributes(counts: &ClickCounts) -> Vec<(String, u64)> {
    let totals = [("n", counts.clicks), ("bots", counts.bots), ("previews", counts.previews)];
    let totals = totals.into_iter().map(|(name, value)| (name.to_owned(), value));
    let dimensions = [
        ("c", &counts.countries),
        ("r", &counts.referrers),
        ("d", &counts.devices),
        ("b", &counts.browsers),
        ("v", &counts.variants),
        ("h", &counts.hours),
    ];
    let keyed = dimensions.into_iter().flat_map(|(letter, dimension)| {
        dimension.iter().map(move |(key, value)| (format!("{letter}#{key}"), *value))
    });
    totals.chain(keyed).filter(|(_, value)| *value > 0).collect()
}

impl ClickCounts {
    /// Adds a counter that was stored under its flat name. Unknown names are ignored.
    pub fn add_counter(&mut self, name: &str, value: u64) {
        let total = match name {
            "n" => &mut self.clicks,
            "bots" => &mut self.bots,
            "previews" => &mut self.previews,
            _ => return self.add_to_dimension(name, value),
        };
        *total = total.saturating_add(value);
    }

    fn add_to_dimension(&mut self, name: &str, value: u64) {
        let Some((letter, key)) = name.split_once('#') else { return };
        let Some(dimension) = self.dimension(letter) else { return };
        if value > 0 && !key.is_empty() {
            let counter = dimension.entry(key.to_owned()).or_default();
            *counter = counter.saturating_add(value);
        }
    }

    fn dimension(&mut self, letter: &str) -> Option<&mut Dimension> {
        match letter {
            "c" => Some(&mut self.countries),
            "r" => Some(&mut self.referrers),
            "d" => Some(&mut self.devices),
            "b" => Some(&mut self.browsers),
            "v" => Some(&mut self.variants),
            "h" => Some(&mut self.hours),
            _ => None,
        }
    }
}
