//! Which networks cover an address, found with one binary search.
//!
//! Networks nest or stay apart, so their edges cut all addresses into stretches, and the networks
//! that cover a stretch form a chain from the innermost outwards. Memory grows with the networks and
//! not with how deep they nest.

pub(super) trait AddressBits: Copy + Ord {
    fn next(self) -> Option<Self>;
}

impl AddressBits for u32 {
    fn next(self) -> Option<Self> {
        self.checked_add(1)
    }
}

impl AddressBits for u128 {
    fn next(self) -> Option<Self> {
        self.checked_add(1)
    }
}

/// A network, by its first and last address, and the rule that names it.
#[derive(Debug, Clone, Copy)]
pub(super) struct AddressRange<P> {
    pub(super) first: P,
    pub(super) last: P,
    pub(super) rule: u32,
}

/// The networks of all rules in one family of addresses.
#[derive(Debug, Clone)]
pub(super) struct NetworkIndex<P> {
    /// Where each stretch begins, ascending. It ends where the next begins.
    starts: Vec<P>,
    /// The innermost network of each stretch.
    innermost: Vec<u32>,
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    rule: u32,
    outer: u32,
}

const NONE: u32 = u32::MAX;

impl<P: AddressBits> NetworkIndex<P> {
    /// Sorts the ranges out. Of two on the same network one counts as the outer.
    pub(super) fn build(mut ranges: Vec<AddressRange<P>>) -> Self {
        ranges.sort_unstable_by(|a, b| (a.first, b.last, a.rule).cmp(&(b.first, a.last, b.rule)));
        let mut index = Self {
            starts: Vec::new(),
            innermost: Vec::new(),
            nodes: Vec::with_capacity(ranges.len()),
        };
        let mut open: Vec<(u32, P)> = Vec::new();
        for range in ranges {
            while let Some((_, last)) = open.pop_if(|(_, last)| *last < range.first) {
                index.close(last, &open);
            }
            let node = u32::try_from(index.nodes.len()).unwrap_or(NONE);
            index.nodes.push(Node { rule: range.rule, outer: innermost(&open) });
            index.start_interval(range.first, node);
            open.push((node, range.last));
        }
        while let Some((_, last)) = open.pop() {
            index.close(last, &open);
        }
        index.starts.shrink_to_fit();
        index.innermost.shrink_to_fit();
        index
    }

    /// The rules with a network around `address`, innermost network first. A rule with several such
    /// networks comes several times.
    pub(super) fn containing(&self, address: P) -> impl Iterator<Item = u32> {
        let after = self.starts.partition_point(|start| *start <= address);
        let innermost = after.checked_sub(1).and_then(|at| self.innermost.get(at));
        let node = |index: u32| self.nodes.get(usize::try_from(index).ok()?);
        std::iter::successors(innermost.and_then(|index| node(*index)), move |inner| {
            node(inner.outer)
        })
        .map(|node| node.rule)
    }

    /// After `last`, what is still open counts again.
    fn close(&mut self, last: P, open: &[(u32, P)]) {
        if let Some(start) = last.next() {
            self.start_interval(start, innermost(open));
        }
    }

    /// Begins a stretch, or says better what the one that begins there is.
    fn start_interval(&mut self, start: P, node: u32) {
        if self.starts.last() == Some(&start) {
            self.innermost.pop();
        } else {
            self.starts.push(start);
        }
        self.innermost.push(node);
    }
}

fn innermost<P>(open: &[(u32, P)]) -> u32 {
    open.last().map_or(NONE, |(node, _)| *node)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(ranges: &[(u32, u32)]) -> NetworkIndex<u32> {
        let range = |(rule, (first, last)): (usize, &(u32, u32))| AddressRange {
            first: *first,
            last: *last,
            rule: u32::try_from(rule).unwrap(),
        };
        NetworkIndex::build(ranges.iter().enumerate().map(range).collect())
    }

    #[test]
    fn every_network_around_an_address_is_found_innermost_first() {
        let found = index(&[(0, u32::MAX), (8, 15), (8, 11), (12, 15), (12, 15), (32, 32)]);
        for (address, rules) in [
            (0, vec![0]),
            (7, vec![0]),
            (8, vec![2, 1, 0]),
            (11, vec![2, 1, 0]),
            (12, vec![4, 3, 1, 0]),
            (15, vec![4, 3, 1, 0]),
            (16, vec![0]),
            (32, vec![5, 0]),
            (33, vec![0]),
            (u32::MAX, vec![0]),
        ] {
            assert_eq!(found.containing(address).collect::<Vec<_>>(), rules, "{address}");
        }
    }

    #[test]
    fn no_network_covers_what_lies_between_networks() {
        let found = index(&[(8, 11), (16, 19), (u32::MAX, u32::MAX)]);
        for (address, count) in
            [(0, 0), (7, 0), (8, 1), (12, 0), (15, 0), (19, 1), (20, 0), (u32::MAX, 1)]
        {
            assert_eq!(found.containing(address).count(), count, "{address}");
        }
        assert_eq!(index(&[]).containing(0).count(), 0);
    }

    #[test]
    fn memory_grows_with_the_networks_and_not_with_how_deep_they_nest() {
        let everyone = (0..1_000).map(|_| (0, u32::MAX));
        let found = index(&everyone.chain((0..1_000).map(|n| (n * 2, n * 2))).collect::<Vec<_>>());
        assert!(found.starts.len() <= 2_001, "{}", found.starts.len());
        assert_eq!(found.nodes.len(), 2_000);
        assert_eq!(found.containing(2).count(), 1_001);
        assert_eq!(found.containing(3).count(), 1_000);
    }
}
