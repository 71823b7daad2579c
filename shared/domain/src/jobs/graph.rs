//! Jobs that are submitted together and name each other: in which order, and whether there is one.
//!
//! A dependency must exist when it is named, so single submissions can't form a cycle. Within one
//! request jobs may have names of their own and depend on `@name`; there a cycle is possible, and is
//! refused with its members.

use std::collections::HashMap;

/// How a reference to a job of the same request begins.
pub const MARK: char = '@';

/// One of several jobs: its own name, and whom it names.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    /// What the others call it.
    pub name: Option<&'a str>,
    /// Its dependencies as written: ids, or names of others behind the mark.
    pub dependencies: &'a [String],
}

/// What is wrong with a node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// Two nodes have one name.
    #[error("the name `{0}` is used twice")]
    Twice(String),
    /// It names nobody.
    #[error("there is no job named `{0}` in this request")]
    Unknown(String),
    /// It waits for itself.
    #[error("they wait for each other: {}", .0.join(" → "))]
    Cycle(Vec<String>),
}

/// Positions in an order in which everyone comes after whom they depend on, and what is wrong with the
/// others. What merely depends on a flawed node is in the order: it is refused when its turn comes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sorted {
    pub order: Vec<usize>,
    /// Positions that are not in it.
    pub flaws: Vec<(usize, Flaw)>,
}

/// Sorts the nodes.
pub fn sort(nodes: &[Node<'_>]) -> Sorted {
    let mut sorter = Sorter {
        nodes,
        named: HashMap::new(),
        marks: vec![Mark::New; nodes.len()],
        path: Vec::new(),
        sorted: Sorted::default(),
    };
    for (index, node) in nodes.iter().enumerate() {
        let Some(name) = node.name else { continue };
        if sorter.named.insert(name, index).is_some() {
            sorter.flaw(index, Flaw::Twice(name.to_owned()));
        }
    }
    for index in 0..nodes.len() {
        sorter.visit(index);
    }
    sorter.sorted
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Done,
}

struct Sorter<'a> {
    nodes: &'a [Node<'a>],
    named: HashMap<&'a str, usize>,
    marks: Vec<Mark>,
    path: Vec<usize>,
    sorted: Sorted,
}

impl Sorter<'_> {
    /// Depth first; requests are small, so the depth is too.
    fn visit(&mut self, index: usize) {
        if self.marks[index] != Mark::New {
            return;
        }
        self.marks[index] = Mark::Open;
        self.path.push(index);
        for written in self.nodes[index].dependencies {
            let Some(name) = written.strip_prefix(MARK) else { continue };
            match self.named.get(name).copied() {
                None => self.flaw(index, Flaw::Unknown(name.to_owned())),
                Some(other) if self.marks[other] == Mark::Open => self.cycle(other),
                Some(other) => self.visit(other),
            }
        }
        self.path.pop();
        if self.marks[index] == Mark::Open {
            self.marks[index] = Mark::Done;
            self.sorted.order.push(index);
        }
    }

    /// Everyone from `first` to the end of the path waits for themselves.
    fn cycle(&mut self, first: usize) {
        let from = self.path.iter().position(|index| *index == first).unwrap_or(0);
        let members: Vec<usize> = self.path[from..].to_vec();
        let name = |index: &usize| self.nodes[*index].name.unwrap_or("?").to_owned();
        let mut names: Vec<String> = members.iter().map(name).collect();
        names.extend(names.first().cloned());
        for member in members {
            self.flaw(member, Flaw::Cycle(names.clone()));
        }
    }

    fn flaw(&mut self, index: usize, flaw: Flaw) {
        if !self.sorted.flaws.iter().any(|(flawed, _)| *flawed == index) {
            self.sorted.flaws.push((index, flaw));
        }
        self.marks[index] = Mark::Done;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted(nodes: &[(&str, &[&str])]) -> Sorted {
        let dependencies: Vec<Vec<String>> =
            nodes.iter().map(|(_, on)| on.iter().map(|on| (*on).to_owned()).collect()).collect();
        let nodes: Vec<Node<'_>> = nodes
            .iter()
            .zip(&dependencies)
            .map(|((name, _), dependencies)| Node { name: Some(name), dependencies })
            .collect();
        sort(&nodes)
    }

    #[test]
    fn dependencies_come_first() {
        let found = sorted(&[("c", &["@a", "@b"]), ("b", &["@a"]), ("a", &["00ff"])]);
        assert_eq!(found, Sorted { order: vec![2, 1, 0], flaws: vec![] });
    }

    #[test]
    fn a_cycle_is_named_and_the_rest_is_sorted() {
        let found = sorted(&[("a", &["@b"]), ("b", &["@c"]), ("c", &["@a"]), ("d", &[])]);
        let cycle: Vec<String> = ["a", "b", "c", "a"].map(str::to_owned).to_vec();
        assert_eq!(found.order, [3]);
        assert_eq!(found.flaws.len(), 3);
        assert!(found.flaws.iter().all(|(_, flaw)| *flaw == Flaw::Cycle(cycle.clone())));
        let alone = sorted(&[("a", &["@a"])]);
        let itself = Flaw::Cycle(vec!["a".to_owned(), "a".to_owned()]);
        assert_eq!(alone.flaws, [(0, itself)]);
    }

    #[test]
    fn names_are_unique_and_known() {
        assert_eq!(sorted(&[("a", &[]), ("a", &[])]).flaws, [(1, Flaw::Twice("a".to_owned()))]);
        assert_eq!(sorted(&[("a", &["@x"])]).flaws, [(0, Flaw::Unknown("x".to_owned()))]);
    }

    proptest! {
        #[test]
        fn every_node_is_sorted_or_flawed_and_nobody_comes_before_whom_they_need(
            edges in proptest::collection::vec(proptest::collection::vec(0_usize..12, 0..4), 12),
        ) {
            let names: Vec<String> = (0..12).map(|n| format!("n{n}")).collect();
            let written: Vec<Vec<String>> =
                edges.iter().map(|on| on.iter().map(|n| format!("@n{n}")).collect()).collect();
            let nodes: Vec<Node<'_>> = names
                .iter()
                .zip(&written)
                .map(|(name, dependencies)| Node { name: Some(name), dependencies })
                .collect();
            let found = sort(&nodes);
            prop_assert_eq!(found.order.len() + found.flaws.len(), 12);
            let place = |n: usize| found.order.iter().position(|index| *index == n);
            for (index, on) in edges.iter().enumerate() {
                let Some(own) = place(index) else { continue };
                for other in on {
                    prop_assert!(place(*other).is_none_or(|other| other < own));
                }
            }
        }
    }
}
