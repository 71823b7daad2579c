//! Reads JSON Schema: follows references, names types, lists fields and says limits in words.

use serde_json::Value;

use super::text::{code, escape, list, plain, string};

/// How deep fields of fields are listed; deeper ones, and types that contain themselves, end here.
const DEEPEST: usize = 4;

/// The document as the place that references point into.
#[derive(Clone, Copy)]
pub(super) struct Schemas<'a>(pub(super) &'a Value);

/// One row of a table of fields.
pub(super) struct Field<'a> {
    /// Where the field is, such as `items[].name`.
    pub(super) path: String,
    /// What it may hold.
    pub(super) schema: &'a Value,
    /// Whether it is always there.
    pub(super) required: bool,
    /// Which of several alternatives has it.
    pub(super) only: Option<String>,
}

impl<'a> Schemas<'a> {
    /// What a schema is once references and "or null" are looked through.
    pub(super) fn shape(self, schema: &'a Value) -> &'a Value {
        let mut shape = schema;
        // The bound is what ends a circle of references.
        for _ in 0..8 {
            if let Some(reference) = shape.get("$ref").and_then(Value::as_str) {
                let target = reference.strip_prefix('#').and_then(|path| self.0.pointer(path));
                shape = target.unwrap_or(&Value::Null);
            } else if let ([only], None) = (&alternatives(shape)[..], shape.get("properties")) {
                shape = only;
            } else {
                break;
            }
        }
        shape
    }

    /// The description where the schema is used, else the one where it is defined.
    pub(super) fn description(self, schema: &'a Value) -> &'a str {
        let here = string(schema, "description");
        if here.is_empty() { string(self.shape(schema), "description") } else { here }
    }

    /// The type in words, such as `array of string`.
    pub(super) fn kind(self, schema: &'a Value) -> String {
        let shape = self.shape(schema);
        let kinds = types(shape);
        let named = match kinds.first() {
            Some(&"array") => match shape.get("items") {
                Some(items) => format!("array of {}", self.kind(items)),
                None => "array".to_owned(),
            },
            Some(_) => kinds.join(" or "),
            None if shape.get("properties").is_some() => "object".to_owned(),
            None => match alternatives(shape).first() {
                Some(first) => self.kind(first),
                None => "any".to_owned(),
            },
        };
        match string(shape, "format") {
            format @ ("date-time" | "date" | "uri" | "email" | "uuid") => {
                format!("{named} ({format})")
            }
            _ => named,
        }
    }

    /// Whether null is a value it takes.
    pub(super) fn nullable(self, schema: &'a Value) -> bool {
        let null = |schema: &Value| match &schema["type"] {
            Value::String(kind) => kind == "null",
            Value::Array(kinds) => kinds.iter().any(|kind| kind == "null"),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
        };
        null(schema)
            || null(self.shape(schema))
            || ["anyOf", "oneOf"].iter().any(|key| list(schema, key).iter().any(null))
    }

    /// The values there are, each with what is said about it; for a list, those of its entries.
    pub(super) fn choices(self, schema: &'a Value) -> Vec<(&'a Value, &'a str)> {
        let shape = self.shape(schema);
        if let Some(value) = shape.get("const") {
            return vec![(value, "")];
        }
        if let Some(items) = shape.get("items") {
            return self.choices(items);
        }
        let constants = alternatives(shape).into_iter().map(|one| self.shape(one));
        let constants =
            constants.filter_map(|one| Some((one.get("const")?, string(one, "description"))));
        list(shape, "enum").iter().map(|value| (value, "")).chain(constants).collect()
    }

    /// The limits on a value, each as a piece of HTML.
    pub(super) fn limits(self, schema: &'a Value) -> Vec<String> {
        let shape = self.shape(schema);
        let mut limits: Vec<String> = [
            range(shape, "minLength", "maxLength", " characters"),
            range(shape, "minItems", "maxItems", " entries"),
            range(shape, "minimum", "maximum", "").filter(|_| !natural(shape)),
        ]
        .into_iter()
        .flatten()
        .collect();
        if let Some(pattern) = shape.get("pattern").and_then(Value::as_str) {
            limits.push(format!("matches {}", code(pattern)));
        }
        let default = schema.get("default").or_else(|| shape.get("default"));
        if let Some(default) = default.filter(|default| !default.is_null()) {
            limits.push(format!("default {}", code(&default.to_string())));
        }
        limits
    }

    /// The fields of an object in reading order, those of nested objects after their parent.
    pub(super) fn fields(self, schema: &'a Value) -> Vec<Field<'a>> {
        let mut fields = Vec::new();
        self.collect("", schema, None, 0, &mut fields);
        fields
    }

    fn collect(
        self,
        prefix: &str,
        schema: &'a Value,
        only: Option<&str>,
        depth: usize,
        fields: &mut Vec<Field<'a>>,
    ) {
        let shape = self.shape(schema);
        if depth == DEEPEST {
            return;
        }
        for (name, schema, required) in properties(shape) {
            let path = format!("{prefix}{name}");
            fields.push(Field { path: path.clone(), schema, required, only: only.map(Into::into) });
            let inner = self.shape(schema);
            let (prefix, inner) = match inner.get("items") {
                Some(items) => (format!("{path}[]."), items),
                None => (format!("{path}."), inner),
            };
            self.collect(&prefix, inner, only, depth + 1, fields);
        }
        for part in list(shape, "allOf") {
            self.collect(prefix, part, only, depth + 1, fields);
        }
        for variant in alternatives(shape) {
            let label = variant_name(self.shape(variant));
            self.collect(prefix, variant, label.as_deref().or(only), depth + 1, fields);
        }
    }
}

/// The types of a schema but null.
pub(super) fn types(shape: &Value) -> Vec<&str> {
    let kinds = list(shape, "type").iter().chain(shape.get("type"));
    kinds.filter_map(Value::as_str).filter(|kind| *kind != "null").collect()
}

/// What a schema is one of, but null.
pub(super) fn alternatives(shape: &Value) -> Vec<&Value> {
    let all = list(shape, "oneOf").iter().chain(list(shape, "anyOf"));
    all.filter(|one| one["type"] != "null").collect()
}

/// The properties of an object with whether they are required. The required ones come first, in
/// the order the type declares them: that order survives in the document, the others' does not.
pub(super) fn properties(shape: &Value) -> Vec<(&str, &Value, bool)> {
    let all = shape.get("properties").and_then(Value::as_object);
    let required: Vec<&str> = list(shape, "required").iter().filter_map(Value::as_str).collect();
    let first = required.iter().filter_map(|name| all?.get_key_value(*name));
    let rest = all.into_iter().flatten().filter(|(name, _)| !required.contains(&name.as_str()));
    first
        .map(|(name, schema)| (name.as_str(), schema, true))
        .chain(rest.map(|(name, schema)| (name.as_str(), schema, false)))
        .collect()
}

/// How one of several alternatives is told from the others: by its constant field, or its title.
fn variant_name(variant: &Value) -> Option<String> {
    let constant = properties(variant).into_iter().find_map(|(name, schema, _)| {
        schema.get("const").map(|value| format!("`{name}` is `{}`", plain(value)))
    });
    constant.or_else(|| Some(variant.get("title")?.as_str()?.to_owned()))
}

fn range(shape: &Value, least: &str, most: &str, unit: &str) -> Option<String> {
    let bound = |key| shape.get(key).map(|value| escape(&plain(value)));
    match (bound(least), bound(most)) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}")),
        (Some(least), None) => Some(format!("at least {least}{unit}")),
        (None, Some(most)) => Some(format!("at most {most}{unit}")),
        (None, None) => None,
    }
}

/// Whether the range is only that of the integer's width, which says nothing about the value.
fn natural(shape: &Value) -> bool {
    let (least, most) = (shape["minimum"].as_u64(), shape["maximum"].as_u64());
    match string(shape, "format") {
        "uint8" => (least, most) == (Some(0), Some(u64::from(u8::MAX))),
        "uint16" => (least, most) == (Some(0), Some(u64::from(u16::MAX))),
        "uint" | "uint32" | "uint64" => least == Some(0) && shape.get("maximum").is_none(),
        _ => false,
    }
}
