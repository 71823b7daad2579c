//! From a path to everything that has a pattern for it, the most specific pattern first.
//!
//! A radix tree gives one match and refuses patterns that overlap. So there is one tree for each shape
//! of pattern: within a shape patterns only overlap if they are the same, so each tree has at most one
//! match, and the order of the shapes is the order of the matches. Few shapes have as many segments as
//! a path does, and no others are asked.

use std::collections::{BTreeMap, HashMap};

use matchit::Router;

use crate::limits::pattern::{Pattern, SegmentKind};

#[derive(Debug, Clone, Default)]
pub(super) struct PathIndex {
    /// One for each shape, the most specific first.
    trees: Vec<Router<Vec<usize>>>,
    /// The trees for paths of so many segments; the last list is for all longer paths too.
    by_length: Vec<Vec<usize>>,
}

#[derive(Debug, Default)]
pub(super) struct Builder {
    shapes: BTreeMap<Vec<SegmentKind>, HashMap<String, Vec<usize>>>,
    longest: usize,
}

impl Builder {
    /// Leads paths of that pattern to `value`; what is no pattern leads nothing there.
    pub(super) fn add(&mut self, text: &str, value: usize) {
        let Some(Pattern { shape, text }) = Pattern::parse(text) else { return };
        self.longest = self.longest.max(shape.len());
        let values = self.shapes.entry(shape).or_default().entry(text).or_default();
        // One rule may name a pattern twice, with other names for its parameters.
        if values.last() != Some(&value) {
            values.push(value);
        }
    }

    pub(super) fn build(self) -> PathIndex {
        // Nothing but a catch-all matches paths longer than every pattern.
        let mut paths =
            PathIndex { trees: Vec::new(), by_length: vec![Vec::new(); self.longest + 2] };
        for (shape, patterns) in self.shapes {
            let open = shape.last() == Some(&SegmentKind::CatchAll);
            for (length, trees) in paths.by_length.iter_mut().enumerate() {
                if length == shape.len() || (open && length > shape.len()) {
                    trees.push(paths.trees.len());
                }
            }
            let mut tree = Router::new();
            for (text, values) in patterns {
                // Equal patterns were merged and others of one shape don't conflict.
                let inserted = tree.insert(text, values);
                debug_assert!(inserted.is_ok(), "patterns of one shape conflict: {inserted:?}");
            }
            paths.trees.push(tree);
        }
        paths
    }
}

impl PathIndex {
    /// The values of each pattern that matches the path, most specific first.
    pub(super) fn matching<'s, 'p>(
        &'s self,
        path: &'p str,
    ) -> impl Iterator<Item = &'s [usize]> + use<'s, 'p> {
        let segments = path.bytes().filter(|byte| *byte == b'/').count();
        let trees = self.by_length.get(segments).or(self.by_length.last());
        trees.into_iter().flatten().filter_map(move |tree| {
            let matched = self.trees.get(*tree)?.at(path).ok()?;
            Some(matched.value.as_slice())
        })
    }
}
