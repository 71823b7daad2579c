//! Intrinsics over lists and maps: `Fn::Join`, `Fn::Select`, `Fn::Split` and `Fn::FindInMap`.

use crate::error::{Mark, Result, TemplateError};
use crate::node::{Kind, Node};
use crate::resolve::Resolver;
use crate::suggest::did_you_mean;

impl Resolver<'_> {
    pub(super) fn join(&self, argument: &Node, mark: Mark, path: &str) -> Result<Node> {
        let usage =
            || TemplateError::new(mark, path, "Fn::Join takes [separator, list of strings]");
        let arguments = self.arguments(argument, path)?.ok_or_else(usage)?;
        let [separator, list] = arguments.as_slice() else {
            return Err(usage());
        };
        let Kind::List(items) = &list.kind else {
            return Err(usage());
        };
        let items: Option<Vec<String>> = items.iter().map(Node::as_text).collect();
        let separator = separator.as_text().ok_or_else(usage)?;
        Ok(Node::string(mark, items.ok_or_else(usage)?.join(&separator)))
    }

    pub(super) fn split(&self, argument: &Node, mark: Mark, path: &str) -> Result<Node> {
        let usage = || TemplateError::new(mark, path, "Fn::Split takes [separator, string]");
        let arguments = self.arguments(argument, path)?.ok_or_else(usage)?;
        let [separator, text] = arguments.as_slice() else {
            return Err(usage());
        };
        let separator = separator.as_text().filter(|text| !text.is_empty()).ok_or_else(usage)?;
        let text = text.as_text().ok_or_else(usage)?;
        let parts = text.split(&separator).map(|part| Node::string(mark, part));
        Ok(Node { mark, kind: Kind::List(parts.collect()) })
    }

    pub(super) fn select(&self, argument: &Node, mark: Mark, path: &str) -> Result<Node> {
        let usage = || TemplateError::new(mark, path, "Fn::Select takes [index, list]");
        let arguments = self.arguments(argument, path)?.ok_or_else(usage)?;
        let [index, list] = arguments.as_slice() else {
            return Err(usage());
        };
        let Kind::List(items) = &list.kind else {
            return Err(usage());
        };
        let index = index.as_text().and_then(|text| text.parse::<usize>().ok());
        let index = index.ok_or_else(usage)?;
        items.get(index).map(|item| Node { mark, kind: item.kind.clone() }).ok_or_else(|| {
            let reason = format!("Fn::Select wants item {index} of a list of {}", items.len());
            TemplateError::new(mark, path, reason)
        })
    }

    pub(super) fn find_in_map(&self, argument: &Node, mark: Mark, path: &str) -> Result<Node> {
        let usage = || TemplateError::new(mark, path, "Fn::FindInMap takes [map, key, key]");
        let arguments = self.arguments(argument, path)?.ok_or_else(usage)?;
        if arguments.len() != 3 {
            return Err(usage());
        }
        let empty = Node::empty_map(mark);
        let mut found = self.mappings.unwrap_or(&empty);
        for (key, what) in arguments.iter().zip(["map", "key", "key"]) {
            let key = key.as_text().ok_or_else(usage)?;
            let Some(entry) = found.get(&key) else {
                let hint = did_you_mean(&key, keys(found));
                let reason = format!("Fn::FindInMap names unknown {what} `{key}`{hint}");
                return Err(TemplateError::new(mark, path, reason));
            };
            found = &entry.value;
        }
        Ok(Node { mark, kind: found.kind.clone() })
    }

    /// The evaluated arguments, if there is a list of them.
    fn arguments(&self, argument: &Node, path: &str) -> Result<Option<Vec<Node>>> {
        let Kind::List(items) = &argument.kind else {
            return Ok(None);
        };
        self.resolve_items(items, path).map(Some)
    }
}

fn keys(node: &Node) -> Vec<&str> {
    let Kind::Map(entries) = &node.kind else {
        return Vec::new();
    };
    entries.iter().map(|entry| entry.key.as_str()).collect()
}
