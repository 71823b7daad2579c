//! `Fn::Sub`: text with `${Name}`, `${Resource.Attribute}` and, for a literal `${…}`, `${!…}`.

use crate::error::{Mark, Result, TemplateError};
use crate::node::{Entry, Kind, Node};
use crate::resolve::Resolver;

impl Resolver<'_> {
    /// `Fn::Sub`, as a string or as a list of a string and a map of further names.
    pub(super) fn sub(&self, argument: &Node, mark: Mark, path: &str) -> Result<Node> {
        let usage =
            || TemplateError::new(mark, path, "Fn::Sub takes a string, or [string, map of names]");
        let (text, names) = match &argument.kind {
            Kind::String(text) => (text, Vec::new()),
            Kind::List(items) => match items.as_slice() {
                [Node { kind: Kind::String(text), .. }, Node { kind: Kind::Map(names), .. }] => {
                    (text, self.resolve_entries(names, path)?)
                }
                _ => return Err(usage()),
            },
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Map(_) | Kind::Call(..) => {
                return Err(usage());
            }
        };
        self.substitute(text, &names, mark, path).map(|text| Node::string(mark, text))
    }

    fn substitute(&self, text: &str, names: &[Entry], mark: Mark, path: &str) -> Result<String> {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, after)) = after.split_once('}') else {
                return Err(TemplateError::new(mark, path, "Fn::Sub has a `${` without its `}`"));
            };
            result.push_str(before);
            match name.strip_prefix('!') {
                Some(literal) => result.extend(["${", literal, "}"]),
                None => result.push_str(&self.variable(name.trim(), names, mark, path)?),
            }
            rest = after;
        }
        result.push_str(rest);
        Ok(result)
    }

    fn variable(&self, name: &str, names: &[Entry], mark: Mark, path: &str) -> Result<String> {
        let value = match names.iter().find(|entry| entry.key == name) {
            Some(entry) => Some(entry.value.clone()),
            None => match name.split_once('.') {
                Some((id, attribute)) => return self.attribute(id, attribute, mark, path),
                None => self.reference(name, mark, path)?,
            },
        };
        value
            .and_then(|value| value.as_text())
            .ok_or_else(|| TemplateError::new(mark, path, format!("`${{{name}}}` is not a string")))
    }
}
