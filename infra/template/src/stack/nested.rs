//! Reads nested stacks: `AWS::Serverless::Application` and `AWS::CloudFormation::Stack`.
//!
//! A nested template is read when the first output of it is asked for, or else when its resource is
//! reached, with the parameters that the template around it gives.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::Stack;
use crate::declare::Declaration;
use crate::error::{Result, TemplateError};
use crate::field::Field;
use crate::node::{Kind, Node};
use crate::source::Source;
use crate::stack::build::{self, Template};
use crate::suggest::did_you_mean;
use crate::yaml;

/// Another template that this one includes.
#[derive(Debug, Clone)]
pub struct Nested {
    /// Its key in the `Resources` section.
    pub logical_id: String,
    /// Where it is, as written.
    pub location: String,
    /// Where it is, seen from where the outermost template was read.
    pub file: PathBuf,
    /// The parameters it receives; lists come joined by commas.
    pub parameters: BTreeMap<String, String>,
    /// The value of every output it has.
    pub outputs: BTreeMap<String, String>,
    /// What the nested template itself describes, without the templates nested in it, which its own
    /// [`Stack::nested`] shows.
    pub stack: Stack,
    /// The line of its key, in the template that includes it.
    pub line: usize,
}

/// The property that says where the nested template is, for types that have one.
pub(crate) fn location_property(kind: &str) -> Option<&'static str> {
    match kind {
        "AWS::Serverless::Application" => Some("Location"),
        "AWS::CloudFormation::Stack" => Some("TemplateURL"),
        _ => None,
    }
}

/// Reads the template that `declaration` nests; `properties` are evaluated.
pub(crate) fn read(
    declaration: &Declaration,
    properties: &Field<'_>,
    location_property: &str,
    stack_name: &str,
    outer: &Source<'_>,
) -> Result<(Nested, Template)> {
    let settings = ["NotificationARNs", "Parameters", "Tags", "TimeoutInMinutes"];
    properties.only(&[settings.as_slice(), &[location_property]].concat())?;
    let field = properties.required(location_property)?;
    let location = location(&field)?;
    let parameters = parameters(properties)?;

    let file = outer.sibling(&location);
    if outer.is_within(&file) {
        return Err(field.error(format!("`{}` would nest itself", file.display())));
    }
    let text = (outer.files)(&file)
        .map_err(|error| field.error(format!("`{}` cannot be read: {error}", file.display())))?;
    let root = yaml::parse(&text).map_err(|error| error.in_file(&file))?;
    check_parameters(properties, &parameters, &root, &location)?;
    let source = Source { file: &file, parent: Some(outer), files: outer.files };
    let template = build::template(&root, stack_name, &source, &parameters)
        .map_err(|error| error.in_file(&file))?;

    let nested = Nested {
        logical_id: declaration.id.clone(),
        location,
        outputs: template.stack.outputs.clone(),
        // Filled in once the routes of all templates are known.
        stack: Stack::default(),
        line: declaration.mark.line,
        file,
        parameters,
    };
    Ok((nested, template))
}

/// The path of a template. What lies elsewhere could not be read and would silently be missing.
fn location(field: &Field<'_>) -> Result<String> {
    if let Kind::String(text) = &field.node.kind
        && !text.contains("://")
    {
        return Ok(text.clone());
    }
    Err(field.expected("the path of a template"))
}

fn parameters(properties: &Field<'_>) -> Result<BTreeMap<String, String>> {
    let mut parameters = BTreeMap::new();
    for (name, value) in properties.entries_at("Parameters")? {
        let text = if matches!(value.node.kind, Kind::List(_)) {
            value.texts()?.join(",")
        } else {
            value.text()?
        };
        parameters.insert(name.to_owned(), text);
    }
    Ok(parameters)
}

/// Holds what is given against what the nested template declares. The mistake is most likely where
/// the parameters are given, and reported there.
fn check_parameters(
    properties: &Field<'_>,
    given: &BTreeMap<String, String>,
    root: &Node,
    location: &str,
) -> Result {
    let section = root.get("Parameters").map(|entry| &entry.value);
    let Some(Kind::Map(declared)) = section.map(|section| &section.kind) else {
        return check_names(properties, &[], location);
    };
    let names: Vec<&str> = declared.iter().map(|entry| entry.key.as_str()).collect();
    check_names(properties, &names, location)?;
    for entry in declared {
        if !given.contains_key(&entry.key) && entry.value.get("Default").is_none() {
            let reason = format!(
                "`{location}` needs a value for its parameter `{}`, which has no default (line {})",
                entry.key, entry.mark.line
            );
            let at = properties.get("Parameters")?.unwrap_or_else(|| properties.clone());
            return Err(TemplateError::new(at.key_mark, &at.path, reason));
        }
    }
    Ok(())
}

fn check_names(properties: &Field<'_>, declared: &[&str], location: &str) -> Result {
    for (name, field) in properties.entries_at("Parameters")? {
        if !declared.contains(&name) {
            let hint = did_you_mean(name, declared.iter().copied());
            let reason = format!("`{location}` has no parameter `{name}`{hint}");
            return Err(TemplateError::new(field.key_mark, &field.path, reason));
        }
    }
    Ok(())
}
