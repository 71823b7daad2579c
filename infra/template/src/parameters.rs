//! Resolves the value of every parameter: the caller's, or else the default, checked against the
//! constraints the template declares.

use std::collections::BTreeMap;

use regex_lite::Regex;

use crate::error::{Result, TemplateError};
use crate::field::Field;
use crate::node::{Kind, Node};
use crate::suggest::did_you_mean;

const PROPERTIES: &[&str] = &[
    "Type",
    "Default",
    "AllowedPattern",
    "AllowedValues",
    "ConstraintDescription",
    "Description",
    "MaxLength",
    "MaxValue",
    "MinLength",
    "MinValue",
    "NoEcho",
];

/// The value of a parameter: as text, and as what a `Ref` to it becomes.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) text: String,
    pub(crate) node: Node,
}

/// Resolves all parameters of the section; `given` must not name any other.
pub(crate) fn resolve(
    section: &Field<'_>,
    given: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, Parameter>> {
    let declared = section.entries()?;
    for name in given.keys() {
        if !declared.iter().any(|(known, _)| known == name) {
            let hint = did_you_mean(name, declared.iter().map(|(known, _)| *known));
            let reason = format!("a value is given for unknown parameter `{name}`{hint}");
            return Err(TemplateError::new(section.key_mark, &section.path, reason));
        }
    }
    let resolved = |(name, field): &(&str, Field<'_>)| {
        let parameter = parameter(field, given.get(*name))?;
        Ok(((*name).to_owned(), parameter))
    };
    declared.iter().map(resolved).collect()
}

fn parameter(field: &Field<'_>, given: Option<&String>) -> Result<Parameter> {
    field.only(PROPERTIES)?;
    let kind = field.required("Type")?;
    let (text, at) = match (given, field.get("Default")?) {
        (Some(given), _) => (given.clone(), field.clone()),
        (None, Some(default)) => (default.text()?, default),
        (None, None) => {
            let reason = "no value is given and there is no default";
            return Err(TemplateError::new(field.key_mark, &field.path, reason));
        }
    };
    // A given value has no line of its own; what it breaks is reported at the parameter.
    let at = if given.is_some() { field.key_mark } else { at.node.mark };
    let refuse = |reason: String| TemplateError::new(at, &field.path, reason);
    allowed(field, &text)?.map_err(refuse)?;
    let node = match kind.text()?.as_str() {
        "Number" => Node::plain(at, &number(field, &text)?.map_err(refuse)?),
        list if list == "CommaDelimitedList" || list.starts_with("List<") => {
            let items = text.split(',').map(|item| Node::string(at, item.trim()));
            Node { mark: at, kind: Kind::List(items.collect()) }
        }
        text_type if text_type == "String" || text_type.starts_with("AWS::") => {
            Node::string(at, text.clone())
        }
        other => return Err(kind.error(format!("unknown parameter type `{other}`"))),
    };
    Ok(Parameter { text, node })
}

/// Checks what applies to text. The outer error is a mistake in the constraint, the inner one a
/// value that breaks it.
fn allowed(field: &Field<'_>, text: &str) -> Result<Result<(), String>> {
    if let Some(values) = field.get("AllowedValues")? {
        let values = values.texts()?;
        if !values.iter().any(|value| value == text) {
            return Ok(Err(format!("`{text}` is not one of {}", values.join(", "))));
        }
    }
    if let Some(pattern) = field.get("AllowedPattern")? {
        let written = pattern.text()?;
        // CloudFormation matches the whole value.
        let regex = Regex::new(&format!("^(?:{written})$"))
            .map_err(|error| pattern.error(format!("not a pattern: {error}")))?;
        if !regex.is_match(text) {
            return Ok(Err(format!("`{text}` does not match the pattern `{written}`")));
        }
    }
    let length = text.chars().count() as u64;
    let least = field.number_at("MinLength", 0..=u64::MAX)?.unwrap_or(0);
    let most = field.number_at("MaxLength", 0..=u64::MAX)?.unwrap_or(u64::MAX);
    if !(least..=most).contains(&length) {
        return Ok(Err(format!("`{text}` is {length} characters long, which is not allowed")));
    }
    Ok(Ok(()))
}

fn number(field: &Field<'_>, text: &str) -> Result<Result<String, String>> {
    let parse = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let Some(number) = parse(text) else {
        return Ok(Err(format!("expected a number, found `{text}`")));
    };
    let bound = |key: &str| -> Result<Option<f64>> {
        let Some(bound) = field.get(key)? else {
            return Ok(None);
        };
        parse(&bound.text()?).map(Some).ok_or_else(|| bound.expected("a number"))
    };
    let too_small = bound("MinValue")?.is_some_and(|least| number < least);
    let too_large = bound("MaxValue")?.is_some_and(|most| number > most);
    if too_small || too_large {
        return Ok(Err(format!("`{text}` is too {}", if too_small { "small" } else { "large" })));
    }
    Ok(Ok(text.to_owned()))
}
