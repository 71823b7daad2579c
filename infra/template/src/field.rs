//! Typed access to a property: a node together with its path, so that a mistake in it is
//! reported by name and line.

use std::ops::RangeInclusive;

use serde_json::Value;

use crate::error::{Mark, Result, TemplateError};
use crate::node::{Entry, Kind, Node};
use crate::suggest::did_you_mean;
use crate::yaml::child;

/// A property: its value, its path, and the place of its key.
#[derive(Debug, Clone)]
pub(crate) struct Field<'a> {
    pub(crate) node: &'a Node,
    pub(crate) path: String,
    /// Something missing *inside* a map is reported at the map's own key.
    pub(crate) key_mark: Mark,
}

impl<'a> Field<'a> {
    pub(crate) fn new(node: &'a Node, path: impl Into<String>, key_mark: Mark) -> Self {
        Self { node, path: path.into(), key_mark }
    }

    pub(crate) fn error(&self, reason: impl Into<String>) -> TemplateError {
        TemplateError::new(self.node.mark, &self.path, reason)
    }

    pub(crate) fn expected(&self, what: &str) -> TemplateError {
        self.error(format!("expected {what}, found {}", self.node.describe()))
    }

    /// The entries of a map, in the order of the file.
    pub(crate) fn entries(&self) -> Result<Vec<(&'a str, Field<'a>)>> {
        let Kind::Map(entries) = &self.node.kind else {
            return Err(self.expected("a map"));
        };
        let field = |entry: &'a Entry| {
            let path = child(&self.path, &entry.key);
            (entry.key.as_str(), Field::new(&entry.value, path, entry.mark))
        };
        Ok(entries.iter().map(field).collect())
    }

    pub(crate) fn items(&self) -> Result<Vec<Field<'a>>> {
        let Kind::List(items) = &self.node.kind else {
            return Err(self.expected("a list"));
        };
        let field = |(index, item): (usize, &'a Node)| {
            Field::new(item, format!("{}[{index}]", self.path), item.mark)
        };
        Ok(items.iter().enumerate().map(field).collect())
    }

    /// A list, or a single value standing for a list of one.
    pub(crate) fn one_or_many(&self) -> Result<Vec<Field<'a>>> {
        match &self.node.kind {
            Kind::List(_) => self.items(),
            Kind::Null
            | Kind::Bool(_)
            | Kind::Number(_)
            | Kind::String(_)
            | Kind::Map(_)
            | Kind::Call(..) => Ok(vec![self.clone()]),
        }
    }

    pub(crate) fn get(&self, key: &str) -> Result<Option<Field<'a>>> {
        if !matches!(self.node.kind, Kind::Map(_)) {
            return Err(self.expected("a map"));
        }
        let field = self
            .node
            .get(key)
            .map(|entry| Field::new(&entry.value, child(&self.path, key), entry.mark));
        Ok(field)
    }

    pub(crate) fn required(&self, key: &str) -> Result<Field<'a>> {
        self.get(key)?.ok_or_else(|| {
            let reason = format!("missing required property `{key}`");
            TemplateError::new(self.key_mark, &self.path, reason)
        })
    }

    /// Refuses keys that are not in `known`: a misspelt property would otherwise do nothing.
    pub(crate) fn only(&self, known: &[&str]) -> Result {
        for (key, field) in self.entries()? {
            if !known.contains(&key) {
                let hint = did_you_mean(key, known.iter().copied());
                let reason = format!("unknown property{hint}");
                return Err(TemplateError::new(field.key_mark, &field.path, reason));
            }
        }
        Ok(())
    }

    pub(crate) fn text(&self) -> Result<String> {
        self.node.as_text().ok_or_else(|| self.expected("a string"))
    }

    pub(crate) fn texts(&self) -> Result<Vec<String>> {
        self.items()?.iter().map(Field::text).collect()
    }

    pub(crate) fn flag(&self) -> Result<bool> {
        match self.node.as_text().as_deref() {
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            _ => Err(self.expected("true or false")),
        }
    }

    pub(crate) fn number(&self, range: RangeInclusive<u64>) -> Result<u64> {
        let number = self.node.as_text().and_then(|text| text.parse::<u64>().ok());
        let Some(number) = number else {
            return Err(self.expected("a whole number"));
        };
        if range.contains(&number) {
            return Ok(number);
        }
        Err(self.expected(&format!("a number from {} to {}", range.start(), range.end())))
    }

    /// One of a fixed set of words, as the value that stands for it.
    pub(crate) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T> {
        let text = self.text()?;
        let found = choices.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            self.expected(&format!("one of {}", words.join(", ")))
        })
    }

    /// The entries of an optional map.
    pub(crate) fn entries_at(&self, key: &str) -> Result<Vec<(&'a str, Field<'a>)>> {
        self.get(key)?.map_or(Ok(Vec::new()), |field| field.entries())
    }

    /// The items of an optional list.
    pub(crate) fn items_at(&self, key: &str) -> Result<Vec<Field<'a>>> {
        self.get(key)?.map_or(Ok(Vec::new()), |field| field.items())
    }

    pub(crate) fn text_at(&self, key: &str) -> Result<Option<String>> {
        self.get(key)?.map(|field| field.text()).transpose()
    }

    pub(crate) fn texts_at(&self, key: &str) -> Result<Vec<String>> {
        self.items_at(key)?.iter().map(Field::text).collect()
    }

    pub(crate) fn flag_at(&self, key: &str) -> Result<Option<bool>> {
        self.get(key)?.map(|field| field.flag()).transpose()
    }

    pub(crate) fn number_at(&self, key: &str, range: RangeInclusive<u64>) -> Result<Option<u64>> {
        self.get(key)?.map(|field| field.number(range)).transpose()
    }

    /// A JSON document, which may be written as YAML or as a string of JSON.
    pub(crate) fn document(&self) -> Result<Value> {
        match &self.node.kind {
            Kind::String(text) => serde_json::from_str(text)
                .map_err(|error| self.error(format!("not a JSON document: {error}"))),
            Kind::Map(_) => Ok(self.node.to_json()),
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::List(_) | Kind::Call(..) => {
                Err(self.expected("a JSON document"))
            }
        }
    }
}
