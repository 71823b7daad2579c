//! Filter policies: which messages a subscriber wants, decided without any I/O.
//!
//! The language is the one SNS subscriptions and Lambda event sources share: a JSON object whose
//! leaves are lists of rules. Every key must match, and of each list one rule must.

mod rule;

use serde_json::{Map, Value};

use crate::message::{AttributeValue, MessageAttributes};
use rule::Rule;

/// A filter policy that was read and found to make sense.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterPolicy {
    clauses: Vec<Clause>,
}

#[derive(Debug, Clone, PartialEq)]
enum Clause {
    Leaf(String, Vec<Rule>),
    Nested(String, FilterPolicy),
    Or(Vec<FilterPolicy>),
}

/// Why a filter policy makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MalformedFilter(String);

impl MalformedFilter {
    fn new<T>(reason: impl Into<String>) -> Result<T, Self> {
        Err(Self(reason.into()))
    }
}

/// Whether the policy lets a JSON body through. A malformed policy lets nothing through.
pub fn matches_body(policy: &Value, body: &Value) -> bool {
    FilterPolicy::read(policy).is_ok_and(|policy| policy.matches_body(body))
}

/// Whether the policy lets a message with these attributes through. A malformed policy lets
/// nothing through.
pub fn matches_attributes(policy: &Value, attributes: &MessageAttributes) -> bool {
    FilterPolicy::read(policy).is_ok_and(|policy| policy.matches_attributes(attributes))
}

impl FilterPolicy {
    /// Reads a policy, or says what is wrong with it.
    pub fn read(policy: &Value) -> Result<Self, MalformedFilter> {
        let Value::Object(keys) = policy else {
            return MalformedFilter::new("Filter policy must be a JSON object");
        };
        let clauses = keys.iter().map(|(key, value)| Clause::read(key, value));
        Ok(Self { clauses: clauses.collect::<Result<_, _>>()? })
    }

    /// Whether any key is nested, which message attributes cannot match.
    pub fn is_nested(&self) -> bool {
        self.clauses.iter().any(|clause| match clause {
            Clause::Leaf(..) => false,
            Clause::Nested(..) => true,
            Clause::Or(options) => options.iter().any(Self::is_nested),
        })
    }

    /// Whether this lets a JSON body through.
    pub fn matches_body(&self, body: &Value) -> bool {
        self.matches(Some(body))
    }

    /// Whether this lets a message with these attributes through.
    pub fn matches_attributes(&self, attributes: &MessageAttributes) -> bool {
        let readable = attributes
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), attribute_as_json(value)?)));
        self.matches(Some(&Value::Object(readable.collect::<Map<_, _>>())))
    }

    /// A list of objects matches when one of them does: all keys must be found in the same one.
    fn matches(&self, node: Option<&Value>) -> bool {
        if let Some(Value::Array(elements)) = node
            && !elements.is_empty()
        {
            return elements.iter().any(|element| self.matches(Some(element)));
        }
        self.clauses.iter().all(|clause| match clause {
            Clause::Leaf(key, rules) => {
                let value = node.and_then(|node| node.get(key));
                rules.iter().any(|rule| rule.matches(value))
            }
            Clause::Nested(key, policy) => policy.matches(node.and_then(|node| node.get(key))),
            Clause::Or(options) => options.iter().any(|option| option.matches(node)),
        })
    }
}

impl Clause {
    fn read(key: &str, value: &Value) -> Result<Self, MalformedFilter> {
        match value {
            Value::Object(_) => Ok(Self::Nested(key.to_owned(), FilterPolicy::read(value)?)),
            Value::Array(options) if key == "$or" => {
                if options.len() < 2 {
                    return MalformedFilter::new("\"$or\" must be a list of at least two policies");
                }
                Ok(Self::Or(options.iter().map(FilterPolicy::read).collect::<Result<_, _>>()?))
            }
            Value::Array(rules) if rules.is_empty() => {
                MalformedFilter::new(format!("Empty arrays are not allowed: \"{key}\""))
            }
            Value::Array(rules) => {
                let rules = rules.iter().map(Rule::read).collect::<Result<_, _>>()?;
                Ok(Self::Leaf(key.to_owned(), rules))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                MalformedFilter::new(format!("\"{key}\" must be an object or an array"))
            }
        }
    }
}

/// What rules see of a message attribute. A binary one cannot be matched, nor can a list that is
/// not JSON.
fn attribute_as_json(value: &AttributeValue) -> Option<Value> {
    let text = value.string_value.as_deref()?;
    match value.data_type.as_str() {
        "String.Array" => serde_json::from_str(text).ok().filter(Value::is_array),
        kind if kind.starts_with("Number") => serde_json::from_str(text)
            .ok()
            .filter(Value::is_number)
            .or_else(|| text.trim().parse::<f64>().ok().map(Value::from)),
        _ => Some(Value::from(text)),
    }
}

#[cfg(test)]
mod tests;
