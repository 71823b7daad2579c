//! Topological order of jobs that are submitted together and name each other.
//!
//! A dependency must exist when it is named, so single submissions can't form a cycle. Within one
//! request jobs may have names of their own and depend on `@name`; there a cycle is possible, and is
//! refused with its members.

use std::collections::HashMap;

/// What a reference to a job of the same request begins with.
pub const REFERENCE_PREFIX: char = '@';

#[derive(Debug, Clone, Copy)]
pub struct JobNode<'a> {
    pub name: Option<&'a str>,
    /// As written: ids, or names of other jobs behind the prefix.
    pub dependencies: &'a [String],
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    #[error("the name `{0}` is used twice")]
    DuplicateName(String),
    #[error("there is no job named `{0}` in this request")]
    UnknownName(String),
    /// Its members; the first one is repeated at the end.
    #[error("they wait for each other: {}", .0.join(" → "))]
    Cycle(Vec<String>),
}

/// Positions of the nodes, dependencies first, and the nodes that are rejected. A node that merely depends
/// on a rejected one is in the order: it is refused when it is submitted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct JobOrder {
    pub order: Vec<usize>,
    pub rejected: Vec<(usize, GraphError)>,
}

pub fn topological_sort(nodes: &[JobNode<'_>]) -> JobOrder {
    let mut sorter = Sorter {
        nodes,
        named: HashMap::new(),
        visits: vec![Visit::New; nodes.len()],
        path: Vec::new(),
        sorted: JobOrder::default(),
    };
    for (index, node) in nodes.iter().enumerate() {
        let Some(name) = node.name else { continue };
        if sorter.named.insert(name, index).is_some() {
            sorter.reject(index, GraphError::DuplicateName(name.to_owned()));
        }
    }
    for index in 0..nodes.len() {
        sorter.visit(index);
    }
    sorter.sorted
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    OnPath,
    Done,
}

struct Sorter<'a> {
    nodes: &'a [JobNode<'a>],
    named: HashMap<&'a str, usize>,
    visits: Vec<Visit>,
    path: Vec<usize>,
    sorted: JobOrder,
}

impl Sorter<'_> {
    /// Depth first; requests are small, so the depth is too.
    fn visit(&mut self, index: usize) {
        if self.visits[index] != Visit::New {
            return;
        }
        self.visits[index] = Visit::OnPath;
        self.path.push(index);
        for written in self.nodes[index].dependencies {
            let Some(name) = written.strip_prefix(REFERENCE_PREFIX) else { continue };
            match self.named.get(name).copied() {
                None => self.reject(index, GraphError::UnknownName(name.to_owned())),
                Some(other) if self.visits[other] == Visit::OnPath => self.reject_cycle(other),
                Some(other) => self.visit(other),
            }
        }
        self.path.pop();
        if self.visits[index] == Visit::OnPath {
            self.visits[index] = Visit::Done;
            self.sorted.order.push(index);
        }
    }

    /// The nodes from `first` to the end of the path depend on each other.
    fn reject_cycle(&mut self, first: usize) {
        let from = self.path.iter().position(|index| *index == first).unwrap_or(0);
        let members: Vec<usize> = self.path[from..].to_vec();
        let name = |index: &usize| self.nodes[*index].name.unwrap_or("?").to_owned();
        let mut names: Vec<String> = members.iter().map(name).collect();
        names.extend(names.first().cloned());
        for member in members {
            self.reject(member, GraphError::Cycle(names.clone()));
        }
    }

    fn reject(&mut self, index: usize, error: GraphError) {
        if !self.sorted.rejected.iter().any(|(rejected, _)| *rejected == index) {
            self.sorted.rejected.push((index, error));
        }
        self.visits[index] = Visit::Done;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted(nodes: &[(&str, &[&str])]) -> JobOrder {
        let dependencies: Vec<Vec<String>> =
            nodes.iter().map(|(_, on)| on.iter().map(|on| (*on).to_owned()).collect()).collect();
        let nodes: Vec<JobNode<'_>> = nodes
            .iter()
            .zip(&dependencies)
            .map(|((name, _), dependencies)| JobNode { name: Some(name), dependencies })
            .collect();
        topological_sort(&nodes)
    }

    #[test]
    fn dependencies_come_first() {
        let found = sorted(&[("c", &["@a", "@b"]), ("b", &["@a"]), ("a", &["00ff"])]);
        assert_eq!(found, JobOrder { order: vec![2, 1, 0], rejected: vec![] });
    }

    #[test]
    fn a_cycle_is_named_and_the_rest_is_sorted() {
        let found = sorted(&[("a", &["@b"]), ("b", &["@c"]), ("c", &["@a"]), ("d", &[])]);
        let cycle: Vec<String> = ["a", "b", "c", "a"].map(str::to_owned).to_vec();
        assert_eq!(found.order, [3]);
        assert_eq!(found.rejected.len(), 3);
        assert!(found.rejected.iter().all(|(_, error)| *error == GraphError::Cycle(cycle.clone())));
        let alone = sorted(&[("a", &["@a"])]);
        let itself = GraphError::Cycle(vec!["a".to_owned(), "a".to_owned()]);
        assert_eq!(alone.rejected, [(0, itself)]);
    }

    #[test]
    fn names_are_unique_and_known() {
        assert_eq!(
            sorted(&[("a", &[]), ("a", &[])]).rejected,
            [(1, GraphError::DuplicateName("a".to_owned()))]
        );
        assert_eq!(
            sorted(&[("a", &["@x"])]).rejected,
            [(0, GraphError::UnknownName("x".to_owned()))]
        );
    }

    proptest! {
        #[test]
        fn every_node_is_sorted_or_rejected_and_none_comes_before_its_dependencies(
            edges in proptest::collection::vec(proptest::collection::vec(0_usize..12, 0..4), 12),
        ) {
            let names: Vec<String> = (0..12).map(|n| format!("n{n}")).collect();
            let written: Vec<Vec<String>> =
                edges.iter().map(|on| on.iter().map(|n| format!("@n{n}")).collect()).collect();
            let nodes: Vec<JobNode<'_>> = names
                .iter()
                .zip(&written)
                .map(|(name, dependencies)| JobNode { name: Some(name), dependencies })
                .collect();
            let found = topological_sort(&nodes);
            prop_assert_eq!(found.order.len() + found.rejected.len(), 12);
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
