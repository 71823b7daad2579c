//! `Fn::GetAtt` of a nested stack's outputs, for which the nested template is read.

use crate::declare::Declaration;
use crate::error::{Mark, Result, TemplateError};
use crate::field::Field;
use crate::node::Node;
use crate::resolve::Resolver;
use crate::stack::build::Template;
use crate::stack::nested::{self, Nested};
use crate::suggest::did_you_mean;

impl Resolver<'_> {
    /// Reads the template that `declaration` nests, unless it has been or does not nest one.
    pub(crate) fn nest(&self, declaration: &Declaration) -> Result {
        let id = &declaration.id;
        let Some(location) = nested::location_property(&declaration.kind) else {
            return Ok(());
        };
        if self.nested.borrow().contains_key(id) {
            return Ok(());
        }
        // References made by the parameters are the nested stack's own, not its user's.
        let references = self.references.borrow().len();
        self.nesting.borrow_mut().push(id.clone());
        let read = self.read(declaration, location);
        self.nesting.borrow_mut().pop();
        self.references.borrow_mut().truncate(references);
        self.nested.borrow_mut().insert(id.clone(), read?);
        Ok(())
    }

    fn read(&self, declaration: &Declaration, location: &str) -> Result<(Nested, Template)> {
        let path = format!("Resources.{}.Properties", declaration.id);
        let node = self.resolve(&declaration.properties, &path)?;
        let node = node.unwrap_or_else(|| Node::empty_map(declaration.mark));
        let properties = Field::new(&node, path, declaration.mark);
        nested::read(declaration, &properties, location, self.stack_name, self.source)
    }

    /// The nested templates that were read, in the order in which this one declares them.
    pub(crate) fn take_nested(&self) -> Vec<(Nested, Template)> {
        let mut nested: Vec<_> = self.nested.take().into_values().collect();
        nested.sort_by_key(|(nested, _)| nested.line);
        nested
    }

    /// An attribute of a nested stack; all it has are `Outputs.Name`.
    pub(super) fn output(
        &self,
        declaration: &Declaration,
        attribute: &str,
        mark: Mark,
        path: &str,
    ) -> Result<String> {
        let id = &declaration.id;
        let refuse = |reason: String| Err(TemplateError::new(mark, path, reason));
        let Some(name) = attribute.strip_prefix("Outputs.") else {
            let kind = &declaration.kind;
            return refuse(format!(
                "`{id}` ({kind}) has no attribute `{attribute}`; known are Outputs.Name"
            ));
        };
        if self.nesting.borrow().contains(id) {
            return refuse(format!(
                "circular reference: the parameters of `{id}` depend on its own outputs"
            ));
        }
        self.nest(declaration)?;
        let all = self.nested.borrow();
        let Some((nested, template)) = all.get(id) else {
            return refuse(format!("`{id}` has no outputs"));
        };
        if let Some(value) = nested.outputs.get(name) {
            return Ok(value.clone());
        }
        let file = nested.file.display();
        if let Some(why) = template.absent_outputs.get(name) {
            return refuse(format!("`{file}` gives no output `{name}`, since {why}"));
        }
        let hint = did_you_mean(name, nested.outputs.keys().map(String::as_str));
        refuse(format!("`{file}` has no output `{name}`{hint}"))
    }
}
