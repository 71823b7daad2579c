//! Builds a template's stack from its sections, read in the order in which they may refer to
//! each other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::conditions;
use crate::cycles;
use crate::declare::{self, Declaration};
use crate::error::{Mark, Result, TemplateError};
use crate::field::Field;
use crate::globals;
use crate::names;
use crate::node::{Kind, Node};
use crate::parameters;
use crate::resolve::{Reference, Resolver};
use crate::source::Source;
use crate::stack::nested::Nested;
use crate::stack::{Resource, Stack, api, function, gateway, queue, storage, table, topic};
use crate::vocabulary;
use crate::yaml::child;

/// A resource on its way into the stack.
pub(crate) struct Item<'a> {
    pub(crate) declaration: &'a Declaration,
    pub(crate) name: String,
    pub(crate) properties: Field<'a>,
}

impl Item<'_> {
    pub(crate) fn id(&self) -> String {
        self.declaration.id.clone()
    }

    pub(crate) fn line(&self) -> usize {
        self.declaration.mark.line
    }

    /// One of the attributes that [`names::attributes`] lists for the type.
    pub(crate) fn attribute(&self, name: &str) -> String {
        let attributes = names::attributes(&self.declaration.kind, &self.name);
        let found = attributes.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value).unwrap_or_default()
    }
}

/// A template that was read by itself, with what only makes sense among all nested templates.
#[derive(Debug)]
pub(crate) struct Template {
    /// Without what the nested templates describe.
    pub(crate) stack: Stack,
    /// The outputs that have no value, and why.
    pub(crate) absent_outputs: BTreeMap<String, String>,
    /// The parts of APIs, those in nested templates included.
    pub(crate) gateway: gateway::Parts,
    /// Every declared resource, those in nested templates included.
    pub(crate) declared: Vec<Declared>,
}

/// Where a logical id is declared.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) id: String,
    pub(crate) file: PathBuf,
    pub(crate) mark: Mark,
}

/// Reads a template, and those nested in it, from its root.
pub(crate) fn template(
    root: &Node,
    name: &str,
    source: &Source<'_>,
    given: &BTreeMap<String, String>,
) -> Result<Template> {
    let root = Field::new(root, "", Mark::START);
    root.only(vocabulary::TEMPLATE)?;
    let empty = Node::empty_map(Mark::START);
    let section = |key: &'static str| -> Result<Field<'_>> {
        Ok(root.get(key)?.unwrap_or_else(|| Field::new(&empty, key, Mark::START)))
    };
    let mappings = section("Mappings")?;
    refuse_calls(mappings.node, &mappings.path)?;
    let globals = section("Globals")?;
    globals::check(&globals)?;

    let parameters = parameters::resolve(&section("Parameters")?, given)?;
    let resolver = Resolver::new(name, source, parameters, Some(mappings.node));
    let conditions = conditions::evaluate(&section("Conditions")?, &resolver)?;
    let resolver = resolver.with_conditions(conditions);
    let declared =
        declare::declarations(&root.required("Resources")?, Some(globals.node), &resolver)?;
    let resolver = resolver.with_resources(declared);

    let stack =
        Stack { name: name.to_owned(), parameters: resolver.parameters(), ..Stack::default() };
    let mut template = Template {
        stack,
        absent_outputs: BTreeMap::new(),
        gateway: gateway::Parts::of(source.file),
        declared: declared_in(source.file, &resolver),
    };
    add_resources(&mut template, &resolver, &root)?;
    add_outputs(&mut template, &section("Outputs")?, &resolver)?;
    for (nested, inner) in resolver.take_nested() {
        template.stack.nested.push(Nested { stack: inner.stack, ..nested });
        template.gateway.append(inner.gateway);
        template.declared.extend(inner.declared);
    }
    Ok(template)
}

fn declared_in(file: &Path, resolver: &Resolver<'_>) -> Vec<Declared> {
    let place =
        |it: &Declaration| Declared { id: it.id.clone(), file: file.to_owned(), mark: it.mark };
    resolver.declared().map(place).collect()
}

fn add_resources(template: &mut Template, resolver: &Resolver<'_>, root: &Field<'_>) -> Result {
    let sam = root.get("Transform")?.is_some_and(|transform| is_sam(&transform));
    let mut references = cycles::References::new();
    for declaration in resolver.resources() {
        let Declaration { id, kind, mark, .. } = declaration;
        if kind.starts_with("AWS::Serverless::") && !sam {
            let reason = format!("`{kind}` needs `Transform: AWS::Serverless-2016-10-31`");
            return Err(TemplateError::new(*mark, &format!("Resources.{id}"), reason));
        }
        let path = format!("Resources.{id}.Properties");
        let node = resolver.resolve(&declaration.properties, &path)?;
        let node = node.unwrap_or_else(|| Node::empty_map(*mark));
        references.insert(id.clone(), needed(declaration, resolver.take_references()));
        let name = resolver.physical_name(declaration)?;
        let item = Item { declaration, name, properties: Field::new(&node, path, *mark) };
        add_typed(&mut template.stack, &item)?;
        template.gateway.add(&item)?;
        resolver.nest(declaration)?;
        template.stack.resources.push(generic(&item));
    }
    api::check_events(&template.stack, resolver)?;
    cycles::check(&references)
}

/// What must exist before the resource does. The events of a function do not count: SAM makes
/// resources of their own from them, which come after both sides.
fn needed(declaration: &Declaration, references: Vec<Reference>) -> Vec<Reference> {
    let id = &declaration.id;
    let events = format!("Resources.{id}.Properties.Events.");
    let explicit = declaration.depends_on.iter().map(|(target, mark)| Reference {
        target: target.clone(),
        mark: *mark,
        path: format!("Resources.{id}.DependsOn"),
    });
    references.into_iter().filter(|made| !made.path.starts_with(&events)).chain(explicit).collect()
}

fn add_typed(stack: &mut Stack, item: &Item<'_>) -> Result {
    match item.declaration.kind.as_str() {
        "AWS::Serverless::Function" => stack.functions.push(function::read(item)?),
        "AWS::Serverless::HttpApi" => stack.apis.push(api::read(item)?),
        "AWS::DynamoDB::Table" => stack.tables.push(table::read(item)?),
        "AWS::SQS::Queue" => stack.queues.push(queue::read(item)?),
        "AWS::SNS::Topic" => {
            let (topic, subscriptions) = topic::read(item)?;
            stack.topics.push(topic);
            stack.subscriptions.extend(subscriptions);
        }
        "AWS::SNS::Subscription" => stack.subscriptions.push(topic::read_subscription(item)?),
        "AWS::S3::Bucket" => stack.buckets.push(storage::read_bucket(item)?),
        "AWS::Logs::LogGroup" => stack.log_groups.push(storage::read_log_group(item)?),
        _ => {}
    }
    Ok(())
}

fn generic(item: &Item<'_>) -> Resource {
    let declaration = item.declaration;
    Resource {
        logical_id: item.id(),
        kind: declaration.kind.clone(),
        name: item.name.clone(),
        line: item.line(),
        condition: declaration.condition.clone(),
        depends_on: declaration.depends_on.iter().map(|(target, _)| target.clone()).collect(),
        deletion_policy: declaration.deletion_policy,
        update_replace_policy: declaration.update_replace_policy,
        properties: item.properties.node.to_json(),
    }
}

fn add_outputs(template: &mut Template, section: &Field<'_>, resolver: &Resolver<'_>) -> Result {
    for (name, output) in section.entries()? {
        output.only(&["Condition", "Description", "Export", "Value"])?;
        if let Some(condition) = output.get("Condition")? {
            let on = condition.text()?;
            if !resolver.condition(&on, condition.node.mark, &condition.path)? {
                let why = format!("its condition `{on}` is false");
                template.absent_outputs.insert(name.to_owned(), why);
                continue;
            }
        }
        let value = output.required("Value")?;
        if let Some(resolved) = resolver.resolve(value.node, &value.path)? {
            let text = Field::new(&resolved, value.path, value.key_mark).text()?;
            template.stack.outputs.insert(name.to_owned(), text);
        } else {
            template.absent_outputs.insert(name.to_owned(), "its value is none".to_owned());
        }
    }
    Ok(())
}

fn is_sam(transform: &Field<'_>) -> bool {
    let names = transform.one_or_many().unwrap_or_default();
    names.iter().any(|name| name.text().is_ok_and(|name| name == "AWS::Serverless-2016-10-31"))
}

/// Mappings are constants: a call inside one would never be evaluated.
fn refuse_calls(node: &Node, path: &str) -> Result {
    match &node.kind {
        Kind::Call(intrinsic, _) => {
            let reason = format!("`{}` is not allowed in Mappings", intrinsic.name());
            Err(TemplateError::new(node.mark, path, reason))
        }
        Kind::List(items) => items.iter().try_for_each(|item| refuse_calls(item, path)),
        Kind::Map(entries) => entries
            .iter()
            .try_for_each(|entry| refuse_calls(&entry.value, &child(path, &entry.key))),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => Ok(()),
    }
}
