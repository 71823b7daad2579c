//! One operation: what it does, who may call it, what goes in and what comes back.

use serde_json::Value;

use super::curl;
use super::problems;
use super::sample::Sample;
use super::schema::Schemas;
use super::tables;
use super::text::{code, escape, folded, list, listing, paragraphs, string};

/// The methods in reading order.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// An operation of the document.
#[derive(Clone, Copy)]
pub(super) struct Operation<'a> {
    document: &'a Value,
    body: &'a Value,
    /// Its method in lower case.
    pub(super) method: &'static str,
    /// Its path with the parameters in braces.
    pub(super) path: &'a str,
}

/// Every operation, by path and then in the order of [`METHODS`].
pub(super) fn all(document: &Value) -> Vec<Operation<'_>> {
    let mut paths: Vec<(&String, &Value)> =
        document["paths"].as_object().into_iter().flatten().collect();
    paths.sort_by_key(|(path, _)| *path);
    let operations = paths.into_iter().flat_map(|(path, item)| {
        METHODS.into_iter().filter_map(move |method| {
            Some(Operation { document, body: item.get(method)?, method, path })
        })
    });
    operations.collect()
}

impl<'a> Operation<'a> {
    /// The tag it is listed under.
    pub(super) fn tag(&self) -> &'a str {
        list(self.body, "tags").first().and_then(Value::as_str).unwrap_or_default()
    }

    /// What it does in a few words.
    pub(super) fn summary(&self) -> &'a str {
        string(self.body, "summary")
    }

    /// Where links to it lead.
    pub(super) fn anchor(&self) -> String {
        format!("op-{}", escape(string(self.body, "operationId")))
    }

    /// Its parameters that are in `place`: `path`, `query` or `header`.
    pub(super) fn parameters(&self, place: &str) -> Vec<&'a Value> {
        let all = list(self.body, "parameters").iter();
        all.filter(|parameter| string(parameter, "in") == place).collect()
    }

    /// The schema of the JSON it takes.
    pub(super) fn takes(&self) -> Option<&'a Value> {
        json_schema(self.body.get("requestBody")?)
    }

    /// Whether it answers without being told who calls.
    pub(super) fn is_public(&self) -> bool {
        let own = self.body.get("security").or_else(|| self.document.get("security"));
        let schemes = own.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        // An empty requirement among others makes the key optional.
        let open = |scheme: &Value| scheme.as_object().is_none_or(serde_json::Map::is_empty);
        schemes.is_empty() || schemes.iter().any(open)
    }

    /// The status and the description of each success, with the schema of its JSON.
    pub(super) fn successes(&self) -> Vec<(&'a str, &'a str, Option<&'a Value>)> {
        let responses = self.body["responses"].as_object().into_iter().flatten();
        let good = responses.filter(|(status, _)| status.starts_with(['2', '3']));
        good.map(|(status, response)| {
            (status.as_str(), string(response, "description"), json_schema(response))
        })
        .collect()
    }

    /// The operation as an article: prose and tables on one side, listings on the other.
    pub(super) fn html(&self, schemas: Schemas<'_>) -> String {
        let operation_id = string(self.body, "operationId");
        format!(
            "<article id=\"{anchor}\">\n<div class=\"prose\">\n\
             <h3><a href=\"#{anchor}\">{summary}</a></h3>\n\
             <p class=\"route\">{method} <code>{path}</code></p>\n\
             <p class=\"meta\">{access}<span class=\"opid\">{operation_id}</span></p>\n\
             {description}{inputs}{outputs}</div>\n\
             <div class=\"code\">\n{listings}</div>\n</article>\n",
            anchor = self.anchor(),
            summary = escape(self.summary()),
            method = self.badge(false),
            path = self.path_html(),
            access = self.access(),
            operation_id = escape(operation_id),
            description = paragraphs(string(self.body, "description")),
            inputs = self.inputs(schemas),
            outputs = self.outputs(schemas),
            listings = self.listings(schemas),
        )
    }

    /// The method as a coloured badge, shortened where the column is narrow.
    pub(super) fn badge(&self, short: bool) -> String {
        let label = match self.method {
            "delete" if short => "DEL".to_owned(),
            method => method.to_uppercase(),
        };
        format!("<span class=\"method {}\">{label}</span>", self.method)
    }

    /// The path with its parameters set apart and places where a narrow screen may break it.
    fn path_html(&self) -> String {
        let mut html = String::new();
        for character in self.path.chars() {
            match character {
                '/' if html.is_empty() => html.push('/'),
                '/' => html.push_str("<wbr>/"),
                '{' => html.push_str("<b>{"),
                '}' => html.push_str("}</b>"),
                other => html.push_str(&escape(other.encode_utf8(&mut [0; 4]))),
            }
        }
        html
    }

    fn access(&self) -> String {
        let named = match self.body.get("x-role") {
            Some(Value::Array(roles)) => roles.iter().filter_map(Value::as_str).collect(),
            role => role.and_then(Value::as_str).into_iter().collect::<Vec<_>>(),
        };
        if self.is_public() {
            "<span class=\"access public\">Public, no key needed</span>".to_owned()
        } else if named.is_empty() {
            "<span class=\"access\">Any key</span>".to_owned()
        } else {
            let roles: Vec<String> = named.into_iter().map(code).collect();
            format!("<span class=\"access role\">Role {}</span>", roles.join(" or "))
        }
    }

    fn inputs(&self, schemas: Schemas<'_>) -> String {
        let places = [("path", "Path"), ("query", "Query"), ("header", "Headers")];
        let tables = places
            .into_iter()
            .map(|(place, title)| tables::parameters(schemas, title, &self.parameters(place)));
        let mut html: String = tables.collect();
        if let Some(schema) = self.takes() {
            html.push_str("<h4>Body</h4>\n");
            html.push_str(&paragraphs(schemas.description(schema)));
            html.push_str(&tables::fields(schemas, schema, true));
            let example = Sample::of(schemas, "", schema).html();
            html.push_str(&folded("Example body", &listing("application/json", &example)));
        }
        html
    }

    fn outputs(&self, schemas: Schemas<'_>) -> String {
        let mut html = String::from("<h4>Response</h4>\n");
        for (status, description, schema) in self.successes() {
            let about = schema.map_or(description, |schema| schemas.description(schema));
            let about = paragraphs(&format!("`{status}` {about}"));
            html.push_str(&about.replacen("<code>", "<code class=\"status good\">", 1));
            if let Some(schema) = schema {
                html.push_str(&folded("Fields", &tables::fields(schemas, schema, false)));
            }
        }
        html.push_str(&problems::of(self.document, &self.body["responses"]));
        html
    }

    fn listings(&self, schemas: Schemas<'_>) -> String {
        let mut html = listing("Request", &escape(&curl::command(schemas, self)));
        for (status, _, schema) in self.successes() {
            if let Some(schema) = schema {
                let example = Sample::of(schemas, "", schema).html();
                html.push_str(&listing(&format!("Response {status}"), &example));
            }
        }
        html
    }
}

/// The schema of the JSON that a request or a response carries.
fn json_schema(message: &Value) -> Option<&Value> {
    message.get("content")?.get("application/json")?.get("schema")
}
