//! A template as a tree in which every value remembers its place in the file.

use serde_json::{Number, Value};

use crate::error::Mark;

/// A value and where it stands. After resolution a tree holds no [`Kind::Call`] and no
/// [`Kind::Null`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) mark: Mark,
    pub(crate) kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
    Call(Intrinsic, Box<Node>),
}

/// One key of a map. Maps keep the order of the file, and their keys are unique.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) mark: Mark,
    pub(crate) value: Node,
}

/// The intrinsic functions that can be evaluated without a cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intrinsic {
    Ref,
    GetAtt,
    Sub,
    Join,
    Select,
    Split,
    FindInMap,
    If,
    Equals,
    And,
    Or,
    Not,
    Condition,
}

impl Intrinsic {
    /// Every intrinsic with the name that follows `!` in its short form and `Fn::` in its long one.
    pub(crate) const ALL: [(&'static str, Self); 13] = [
        ("Ref", Self::Ref),
        ("GetAtt", Self::GetAtt),
        ("Sub", Self::Sub),
        ("Join", Self::Join),
        ("Select", Self::Select),
        ("Split", Self::Split),
        ("FindInMap", Self::FindInMap),
        ("If", Self::If),
        ("Equals", Self::Equals),
        ("And", Self::And),
        ("Or", Self::Or),
        ("Not", Self::Not),
        ("Condition", Self::Condition),
    ];

    pub(crate) fn named(short: &str) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| *name == short).map(|(_, intrinsic)| *intrinsic)
    }

    /// The long form, as messages show it.
    pub(crate) fn name(self) -> String {
        let short = Self::ALL.iter().find(|(_, other)| *other == self).map_or("", |(name, _)| name);
        match short {
            "Ref" | "Condition" => short.to_owned(),
            other => format!("Fn::{other}"),
        }
    }
}

impl Node {
    pub(crate) fn string(mark: Mark, text: impl Into<String>) -> Self {
        Self { mark, kind: Kind::String(text.into()) }
    }

    pub(crate) fn empty_map(mark: Mark) -> Self {
        Self { mark, kind: Kind::Map(Vec::new()) }
    }

    /// Reads an unquoted scalar as YAML's core schema does, except that digits which a number would
    /// not give back, such as an account id with leading zeros, stay text.
    pub(crate) fn plain(mark: Mark, text: &str) -> Self {
        let kind = match text {
            "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
            "true" | "True" | "TRUE" => Kind::Bool(true),
            "false" | "False" | "FALSE" => Kind::Bool(false),
            _ => number(text).map_or_else(|| Kind::String(text.to_owned()), Kind::Number),
        };
        Self { mark, kind }
    }

    /// The text of a scalar; templates convert between strings, numbers and booleans freely.
    pub(crate) fn as_text(&self) -> Option<String> {
        match &self.kind {
            Kind::String(text) => Some(text.clone()),
            Kind::Number(number) => Some(number.to_string()),
            Kind::Bool(flag) => Some(flag.to_string()),
            Kind::Null | Kind::List(_) | Kind::Map(_) | Kind::Call(..) => None,
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        match &self.kind {
            Kind::Map(entries) => entries.iter().find(|entry| entry.key == key),
            Kind::Null
            | Kind::Bool(_)
            | Kind::Number(_)
            | Kind::String(_)
            | Kind::List(_)
            | Kind::Call(..) => None,
        }
    }

    /// What the value is, in the words of an error message.
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".to_owned(),
            Kind::Bool(flag) => format!("`{flag}`"),
            Kind::Number(number) => format!("`{number}`"),
            Kind::String(text) => format!("`{text}`"),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a map".to_owned(),
            Kind::Call(intrinsic, _) => format!("`{}`", intrinsic.name()),
        }
    }

    /// The value without its marks.
    pub(crate) fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(flag) => Value::Bool(*flag),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::String(text) => Value::String(text.clone()),
            Kind::List(items) => items.iter().map(Self::to_json).collect(),
            Kind::Map(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect()
            }
            Kind::Call(intrinsic, argument) => {
                [(intrinsic.name(), argument.to_json())].into_iter().collect()
            }
        }
    }
}

fn number(text: &str) -> Option<Number> {
    if let Ok(whole) = text.parse::<i64>() {
        return (whole.to_string() == text).then(|| whole.into());
    }
    // `inf`, `nan` and `1_000` are words in a template; only digits make a number.
    let digits = text.strip_prefix('-').unwrap_or(text);
    let leading_zero = digits.starts_with('0') && !digits.starts_with("0.");
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || leading_zero {
        return None;
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}
