//! Examples made from schemas, printed as JSON for the page and for a shell.

use serde_json::{Value, json};

use super::schema::{Schemas, alternatives, properties, types};
use super::text::{escape, list, string};

/// What fields of these names hold in an example. The first that fits the schema is taken, so a
/// name may be here once for each type it has. All describe one account and one id.
const USUAL: &[(&str, &str)] = &[
    ("userId", r#""importer""#),
    ("name", r#""Importer""#),
    ("email", r#""importer@example.com""#),
    ("tenant", r#""default""#),
    ("roles", r#"["member"]"#),
    ("version", "3"),
    ("version", r#""0.1.0""#),
    ("stage", r#""local""#),
    ("keyId", r#""5NqJ2vX8cTfW1bKzR""#),
    ("key", r#""5NqJ2vX8cTfW1bKzR.EXAMPLEsecretEXAMPLEsecretEXAMPLEsecret0000""#),
    ("expiresAt", r#""2027-01-15T09:30:00Z""#),
    ("auditId", r#""2011732589269905451""#),
    ("by", r#""root""#),
    ("change", r#""KeyCreated""#),
    ("id", r#""2011732589269905450""#),
    ("ids", r#"["2011732589269905450", "2011732589269905451"]"#),
    ("base62", r#""2ObkuNON30s""#),
    ("time", r#""2026-01-15T09:30:00.123Z""#),
    ("unixMs", "1768469400123"),
    ("datacenter", "1"),
    ("machine", "7"),
    ("sequence", "42"),
    ("limit", "50"),
    ("cursor", r#""aW1wb3J0ZXI""#),
    ("nextCursor", r#""aW1wb3J0ZXI""#),
    ("If-Match", r#""\"3\"""#),
];

/// Fields an example leaves out, because it shows things fresh and in use.
const UNUSUAL: &[&str] = &["revokedAt", "lastUsedAt"];

/// How deep an example goes before it stops at `{}`.
const DEEPEST: usize = 6;

/// The longest list that is printed on one line.
const ONE_LINE: usize = 40;

/// An example value. Unlike a JSON map it keeps its fields in reading order.
pub(super) enum Sample {
    /// A string, number, boolean or null.
    Leaf(Value),
    /// A list.
    List(Vec<Self>),
    /// An object.
    Fields(Vec<(String, Self)>),
}

impl Sample {
    /// An example of what `schema` allows in a field called `name`.
    pub(super) fn of(schemas: Schemas<'_>, name: &str, schema: &Value) -> Self {
        sample(schemas, name, schema, 0)
    }

    /// The example as a bare word for a path, a query or a header.
    pub(super) fn word(&self) -> String {
        match self {
            Self::Leaf(Value::String(text)) => text.clone(),
            Self::Leaf(value) => value.to_string(),
            Self::List(entries) => entries.first().map(Self::word).unwrap_or_default(),
            Self::Fields(_) => String::new(),
        }
    }

    /// The example as indented JSON.
    pub(super) fn json(&self) -> String {
        self.print(0, &|_, text| text)
    }

    /// The example as indented JSON in HTML, with a class on each kind of token.
    pub(super) fn html(&self) -> String {
        self.print(0, &|class, text| format!("<span class=\"{class}\">{}</span>", escape(&text)))
    }

    fn print(&self, depth: usize, mark: &impl Fn(&str, String) -> String) -> String {
        let line = |depth: usize| format!("\n{}", "  ".repeat(depth));
        let block = |open: &str, entries: Vec<String>, close: &str| {
            let inner = entries.join(&format!(",{}", line(depth + 1)));
            [open, &line(depth + 1), &inner, &line(depth), close].concat()
        };
        match self {
            Self::Leaf(value) => mark(class(value), value.to_string()),
            Self::List(entries) => {
                let printed: Vec<String> =
                    entries.iter().map(|entry| entry.print(depth + 1, mark)).collect();
                if self.fits_one_line() {
                    format!("[{}]", printed.join(", "))
                } else {
                    block("[", printed, "]")
                }
            }
            Self::Fields(fields) if fields.is_empty() => "{}".to_owned(),
            Self::Fields(fields) => {
                let printed = fields.iter().map(|(name, value)| {
                    let name = mark("k", Value::from(name.as_str()).to_string());
                    format!("{name}: {}", value.print(depth + 1, mark))
                });
                block("{", printed.collect(), "}")
            }
        }
    }

    fn fits_one_line(&self) -> bool {
        let Self::List(entries) = self else { return false };
        let leaves = entries.iter().all(|entry| matches!(entry, Self::Leaf(_)));
        leaves && entries.iter().map(|entry| entry.json().len() + 2).sum::<usize>() <= ONE_LINE
    }
}

impl From<Value> for Sample {
    fn from(value: Value) -> Self {
        match value {
            Value::Array(entries) => Self::List(entries.into_iter().map(Into::into).collect()),
            Value::Object(fields) => {
                Self::Fields(fields.into_iter().map(|(name, value)| (name, value.into())).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Self::Leaf(value),
        }
    }
}

fn class(leaf: &Value) -> &'static str {
    if leaf.is_string() { "s" } else { "n" }
}

fn sample(schemas: Schemas<'_>, name: &str, schema: &Value, depth: usize) -> Sample {
    let shape = schemas.shape(schema);
    if let Some(value) = given(schemas, name, schema) {
        return value.into();
    }
    let object = shape.get("properties").is_some() || types(shape).first() == Some(&"object");
    if depth == DEEPEST {
        return Sample::Fields(Vec::new());
    }
    if let Some(items) = shape.get("items") {
        return Sample::List(vec![sample(schemas, name, items, depth + 1)]);
    }
    let parts = list(shape, "allOf").iter().chain(alternatives(shape).into_iter().take(1));
    let mut parts: Vec<Sample> = parts.map(|part| sample(schemas, name, part, depth + 1)).collect();
    if !object && !parts.iter().any(|part| matches!(part, Sample::Fields(_))) {
        return parts.pop().unwrap_or_else(|| Sample::Leaf(scalar(name, shape)));
    }
    let own = properties(shape).into_iter().filter(|(name, ..)| !UNUSUAL.contains(name));
    let own =
        own.map(|(name, schema, _)| (name.to_owned(), sample(schemas, name, schema, depth + 1)));
    let inherited = parts.into_iter().filter_map(|part| match part {
        Sample::Fields(fields) => Some(fields),
        Sample::Leaf(_) | Sample::List(_) => None,
    });
    Sample::Fields(own.chain(inherited.flatten()).collect())
}

/// A value that someone chose: in the schema itself, or usual for the name.
fn given(schemas: Schemas<'_>, name: &str, schema: &Value) -> Option<Value> {
    let shape = schemas.shape(schema);
    let shown = [schema, shape].into_iter().find_map(|place| {
        place
            .get("example")
            .or_else(|| list(place, "examples").first())
            .or_else(|| place.get("const"))
    });
    let usual = || {
        let named = USUAL.iter().filter(|(usual, _)| *usual == name);
        let mut values = named.filter_map(|(_, text)| serde_json::from_str::<Value>(text).ok());
        values.find(|value| fits(schemas, shape, value))
    };
    let default = || shape.get("default").filter(|value| !value.is_null() && **value != json!([]));
    let choice = || list(shape, "enum").first();
    shown.cloned().or_else(usual).or_else(|| default().or_else(choice).cloned())
}

fn fits(schemas: Schemas<'_>, shape: &Value, value: &Value) -> bool {
    let kind = match value {
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Number(_) => "integer",
        Value::Null | Value::Bool(_) | Value::Object(_) => return false,
    };
    let choices = schemas.choices(shape);
    let entries = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let chosen = |entry: &Value| choices.is_empty() || choices.iter().any(|(one, _)| *one == entry);
    types(shape).contains(&kind) && entries.iter().all(chosen)
}

fn scalar(name: &str, shape: &Value) -> Value {
    match types(shape).first() {
        Some(&"boolean") => json!(true),
        Some(&"number" | &"integer") => {
            let least = shape["minimum"].as_i64().unwrap_or(1).max(1);
            json!(least.min(shape["maximum"].as_i64().unwrap_or(least)))
        }
        Some(&"string") => json!(word(name, shape)),
        Some(_) | None => json!({}),
    }
}

fn word(name: &str, shape: &Value) -> String {
    if let Some(quoted) = quoted(string(shape, "description")) {
        return quoted.to_owned();
    }
    let lower = name.to_lowercase();
    let text = match string(shape, "format") {
        "uuid" => "0194694c-5b2f-7cc0-8a55-4d1f3c9e7a10",
        "email" => "importer@example.com",
        "date" => "2026-01-15",
        "date-time" => "2026-01-15T09:30:00Z",
        _ if name == "at" || name.ends_with("At") => "2026-01-15T09:30:00Z",
        "uri" => "https://example.com/",
        _ if lower.ends_with("url") => "https://example.com/",
        _ => "example",
    };
    text.to_owned()
}

/// The literal that a description such as "`active` or `disabled`." begins with: the value itself.
fn quoted(description: &str) -> Option<&str> {
    let (literal, rest) = description.strip_prefix('`')?.split_once('`')?;
    let names_values = rest.starts_with(['.', ',']) || rest.starts_with(" or ") || rest.is_empty();
    names_values.then_some(literal)
}
