//! Tables of parameters and fields: the name and type on the left, what they mean on the right.

use serde_json::Value;

use super::schema::{Field, Schemas};
use super::text::{code, escape, inline, plain, string};

/// The parameters of one place; nothing when there are none.
pub(super) fn parameters(schemas: Schemas<'_>, title: &str, parameters: &[&Value]) -> String {
    let rows = parameters.iter().map(|parameter| {
        let schema = &parameter["schema"];
        let row = Row {
            name: string(parameter, "name"),
            // A parameter is left out rather than null, whatever the type behind it says.
            kind: schemas.kind(schema),
            required: parameter["required"] == true,
            description: string(parameter, "description"),
            only: None,
        };
        row.html(schemas, schema)
    });
    let rows: String = rows.collect();
    if rows.is_empty() { rows } else { format!("<h4>{title}</h4>\n{}", table("Parameter", &rows)) }
}

/// The fields of an object. Only what callers send says which fields are required: in an answer
/// the type says what may be missing, and a mark on nearly every row would be noise.
pub(super) fn fields(schemas: Schemas<'_>, schema: &Value, sent: bool) -> String {
    let rows = schemas.fields(schema).into_iter().map(|field| {
        let Field { path, schema, required, only } = field;
        let suffix = match (schemas.nullable(schema), sent) {
            (true, true) => " or null",
            (nullable, false) if nullable || !required => ", optional",
            (..) => "",
        };
        let row = Row {
            name: &path,
            kind: schemas.kind(schema) + suffix,
            required: sent && required,
            description: schemas.description(schema),
            only,
        };
        row.html(schemas, schema)
    });
    let rows: String = rows.collect();
    if rows.is_empty() { rows } else { table("Field", &rows) }
}

struct Row<'a> {
    name: &'a str,
    kind: String,
    required: bool,
    description: &'a str,
    only: Option<String>,
}

impl Row<'_> {
    fn html(&self, schemas: Schemas<'_>, schema: &Value) -> String {
        let required = if self.required { " <span class=\"required\">required</span>" } else { "" };
        let only = self
            .only
            .as_deref()
            .map(|only| format!("<p class=\"limits\">Only if {}</p>", inline(only)));
        let description = match self.description {
            "" => String::new(),
            text => format!("<p>{}</p>", inline(text)),
        };
        format!(
            "<tr><th scope=\"row\"><code>{}</code></th>\
             <td><p class=\"kind\">{}{required}</p>{description}{}{}{}</td></tr>\n",
            breakable(self.name),
            escape(&self.kind),
            only.unwrap_or_default(),
            self.limits(schemas, schema),
            choices(schemas, schema),
        )
    }

    /// The limits that the description doesn't already give in the same words.
    fn limits(&self, schemas: Schemas<'_>, schema: &Value) -> String {
        let mut limits = schemas.limits(schema);
        limits.retain(|limit| !self.description.contains(limit.as_str()));
        if limits.is_empty() {
            return String::new();
        }
        format!("<p class=\"limits\">{}</p>", limits.join("<br>"))
    }
}

fn table(head: &str, rows: &str) -> String {
    format!(
        "<table>\n<colgroup><col class=\"name\"><col></colgroup>\n\
         <thead><tr><th scope=\"col\">{head}</th>\
         <th scope=\"col\">Meaning</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n"
    )
}

/// The values to choose from: side by side, or as a list when something is said about them.
fn choices(schemas: Schemas<'_>, schema: &Value) -> String {
    let choices = schemas.choices(schema);
    if choices.is_empty() {
        return String::new();
    }
    if choices.iter().all(|(_, about)| about.is_empty()) {
        let values: Vec<String> = choices.iter().map(|(value, _)| code(&plain(value))).collect();
        return format!("<p class=\"choices\">{}</p>", values.join(" "));
    }
    let entry = |(value, about): &(&Value, &str)| {
        ["<li>", &code(&plain(value)), " ", &inline(about), "</li>"].concat()
    };
    format!("<ul class=\"choices\">{}</ul>", choices.iter().map(entry).collect::<String>())
}

/// A dotted path with the field itself set apart, which a narrow column may break after each dot.
fn breakable(path: &str) -> String {
    let Some((parents, name)) = path.rsplit_once('.') else { return escape(path) };
    format!("<i>{}.</i><wbr>{}", escape(parents).replace('.', ".<wbr>"), escape(name))
}
