//! `Ref` and `Fn::GetAtt`, and the physical names behind them.

use crate::declare::Declaration;
use crate::error::{Mark, Result, TemplateError};
use crate::names;
use crate::node::{Kind, Node};
use crate::resolve::{Reference, Resolved, Resolver};
use crate::stack::{api, nested};
use crate::suggest::did_you_mean;

impl Resolver<'_> {
    /// The value of a parameter, a pseudo parameter or a resource.
    pub(super) fn reference(&self, name: &str, mark: Mark, path: &str) -> Resolved {
        if name == "AWS::NoValue" {
            return Ok(None);
        }
        if let Some(value) = names::pseudo_parameter(name, self.stack_name) {
            return Ok(Some(Node::string(mark, value)));
        }
        if let Some(parameter) = self.parameters.get(name) {
            return Ok(Some(Node { mark, kind: parameter.node.kind.clone() }));
        }
        let Some(declaration) = self.declarations.get(name) else {
            let hint = did_you_mean(name, self.names());
            return Err(TemplateError::new(mark, path, format!("unknown Ref `{name}`{hint}")));
        };
        let physical = self.used(declaration, mark, path)?;
        Ok(Some(Node::string(mark, names::reference(&declaration.kind, &physical))))
    }

    /// `Fn::GetAtt`, as `Resource.Attribute` or as a list of the two.
    pub(super) fn get_att(&self, argument: &Node, mark: Mark, path: &str) -> Result<Node> {
        let usage = || {
            let reason = "Fn::GetAtt takes `Resource.Attribute` or [Resource, Attribute]";
            TemplateError::new(mark, path, reason)
        };
        let dotted = match &argument.kind {
            Kind::String(dotted) => dotted.clone(),
            Kind::List(items) if items.len() == 2 => {
                let parts = self.resolve_items(items, path)?;
                let parts: Option<Vec<_>> = parts.iter().map(Node::as_text).collect();
                parts.ok_or_else(usage)?.join(".")
            }
            Kind::Null
            | Kind::Bool(_)
            | Kind::Number(_)
            | Kind::List(_)
            | Kind::Map(_)
            | Kind::Call(..) => return Err(usage()),
        };
        let (id, attribute) = dotted.split_once('.').ok_or_else(usage)?;
        self.attribute(id, attribute, mark, path).map(|value| Node::string(mark, value))
    }

    pub(super) fn attribute(
        &self,
        id: &str,
        attribute: &str,
        mark: Mark,
        path: &str,
    ) -> Result<String> {
        let Some(declaration) = self.declarations.get(id) else {
            let hint = did_you_mean(id, self.declarations.keys().map(String::as_str));
            let reason = format!("Fn::GetAtt names unknown resource `{id}`{hint}");
            return Err(TemplateError::new(mark, path, reason));
        };
        let physical = self.used(declaration, mark, path)?;
        if nested::location_property(&declaration.kind).is_some() {
            return self.output(declaration, attribute, mark, path);
        }
        let mut known = names::attributes(&declaration.kind, &physical);
        if api::is_websocket(&declaration.properties) {
            known.retain(|(name, _)| *name != names::API_ENDPOINT);
        }
        if declaration.properties.get("StreamSpecification").is_none() {
            known.retain(|(name, _)| *name != names::STREAM_ARN);
        }
        let found = known.iter().find(|(name, _)| *name == attribute);
        found.map(|(_, value)| value.clone()).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let reason = format!(
                "`{id}` ({}) has no attribute `{attribute}`; known are {}",
                declaration.kind,
                names.join(", "),
            );
            TemplateError::new(mark, path, reason)
        })
    }

    /// The physical name of a resource that something refers to, which it can only if it exists.
    fn used(&self, declaration: &Declaration, mark: Mark, path: &str) -> Result<String> {
        let id = &declaration.id;
        if !declaration.exists {
            let condition = declaration.condition.as_deref().unwrap_or_default();
            let reason =
                format!("`{id}` does not exist, since its condition `{condition}` is false");
            return Err(TemplateError::new(mark, path, reason));
        }
        if self.naming.borrow().contains(id) {
            let reason = format!("circular reference: the name of `{id}` depends on itself");
            return Err(TemplateError::new(mark, path, reason));
        }
        let made = Reference { target: id.clone(), mark, path: path.to_owned() };
        self.references.borrow_mut().push(made);
        self.physical_name(declaration)
    }

    /// What the resource is called, by its own choice or by default.
    pub(crate) fn physical_name(&self, declaration: &Declaration) -> Result<String> {
        // References made by the name are the named resource's own, not its user's.
        let references = self.references.borrow().len();
        self.naming.borrow_mut().push(declaration.id.clone());
        let name = self.chosen_name(declaration);
        self.naming.borrow_mut().pop();
        self.references.borrow_mut().truncate(references);
        name
    }

    fn chosen_name(&self, declaration: &Declaration) -> Result<String> {
        let Declaration { id, kind, .. } = declaration;
        let property = |key: &str| -> Result<Option<String>> {
            let Some(entry) = declaration.properties.get(key) else {
                return Ok(None);
            };
            let path = format!("Resources.{id}.Properties.{key}");
            let Some(value) = self.resolve(&entry.value, &path)? else {
                return Ok(None);
            };
            let reason = || format!("expected a string, found {}", value.describe());
            let text = value.as_text();
            text.map(Some).ok_or_else(|| TemplateError::new(value.mark, &path, reason()))
        };
        if let Some(key) = names::name_property(kind)
            && let Some(name) = property(key)?
        {
            return Ok(name);
        }
        let fifo = names::fifo_property(kind).map(property).transpose()?.flatten();
        Ok(names::default_name(kind, self.stack_name, id, fifo.as_deref() == Some("true")))
    }

    /// Everything a `Ref` may name.
    fn names(&self) -> impl Iterator<Item = &str> {
        let parameters = self.parameters.keys().map(String::as_str);
        let resources = self.declarations.keys().map(String::as_str);
        parameters.chain(resources).chain(names::PSEUDO_PARAMETERS)
    }
}
