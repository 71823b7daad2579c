//! Evaluates intrinsics: turns a tree with calls into one without.

mod collections;
mod nested;
mod references;
mod substitute;

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::declare::Declaration;
use crate::error::{Mark, Result, TemplateError};
use crate::node::{Entry, Intrinsic, Kind, Node};
use crate::parameters::Parameter;
use crate::source::Source;
use crate::stack::build::Template;
use crate::stack::nested::Nested;
use crate::suggest::did_you_mean;
use crate::yaml::child;

/// Everything an intrinsic can look up. It is filled in the order in which a template may refer to
/// things: parameters and mappings, then conditions, then resources.
pub(crate) struct Resolver<'a> {
    stack_name: &'a str,
    source: &'a Source<'a>,
    parameters: BTreeMap<String, Parameter>,
    mappings: Option<&'a Node>,
    conditions: BTreeMap<String, bool>,
    declarations: BTreeMap<String, Declaration>,
    /// The resources whose names are being worked out, so that names which depend on each other
    /// are found instead of followed for ever.
    naming: RefCell<Vec<String>>,
    /// The same for nested stacks whose parameters are being worked out.
    nesting: RefCell<Vec<String>>,
    /// The nested templates read so far, by logical id.
    nested: RefCell<BTreeMap<String, (Nested, Template)>>,
    references: RefCell<Vec<Reference>>,
}

/// A reference to a resource, and where it was made.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) target: String,
    pub(crate) mark: Mark,
    pub(crate) path: String,
}

/// What a node evaluates to; nothing, if it is `AWS::NoValue`.
pub(crate) type Resolved = Result<Option<Node>>;

impl<'a> Resolver<'a> {
    pub(crate) fn new(
        stack_name: &'a str,
        source: &'a Source<'a>,
        parameters: BTreeMap<String, Parameter>,
        mappings: Option<&'a Node>,
    ) -> Self {
        Self {
            stack_name,
            source,
            parameters,
            mappings,
            conditions: BTreeMap::new(),
            declarations: BTreeMap::new(),
            naming: RefCell::default(),
            nesting: RefCell::default(),
            nested: RefCell::default(),
            references: RefCell::default(),
        }
    }

    pub(crate) fn with_conditions(mut self, conditions: BTreeMap<String, bool>) -> Self {
        self.conditions = conditions;
        self
    }

    pub(crate) fn with_resources(mut self, declared: Vec<Declaration>) -> Self {
        let by_id = declared.into_iter().map(|declaration| (declaration.id.clone(), declaration));
        self.declarations = by_id.collect();
        self
    }

    /// The declared resources that exist, in the order of the file.
    pub(crate) fn resources(&self) -> Vec<&Declaration> {
        let mut existing: Vec<_> =
            self.declarations.values().filter(|declaration| declaration.exists).collect();
        existing.sort_by_key(|declaration| (declaration.mark.line, declaration.mark.column));
        existing
    }

    /// All declared resources, also those that do not exist.
    pub(crate) fn declared(&self) -> impl Iterator<Item = &Declaration> {
        self.declarations.values()
    }

    /// Where an event of a function is written, or else the function.
    pub(crate) fn event_mark(&self, function: &str, event: &str) -> Mark {
        let Some(declaration) = self.declarations.get(function) else {
            return Mark::START;
        };
        let events = declaration.properties.get("Events");
        let event = events.and_then(|events| events.value.get(event));
        event.map_or(declaration.mark, |event| event.mark)
    }

    /// The references made since this was last asked.
    pub(crate) fn take_references(&self) -> Vec<Reference> {
        self.references.take()
    }

    pub(crate) fn parameters(&self) -> BTreeMap<String, String> {
        let text = |(name, value): (&String, &Parameter)| (name.clone(), value.text.clone());
        self.parameters.iter().map(text).collect()
    }

    /// Whether the named condition holds.
    pub(crate) fn condition(&self, name: &str, mark: Mark, path: &str) -> Result<bool> {
        self.conditions.get(name).copied().ok_or_else(|| {
            let hint = did_you_mean(name, self.conditions.keys().map(String::as_str));
            TemplateError::new(mark, path, format!("unknown condition `{name}`{hint}"))
        })
    }

    /// Evaluates a tree.
    pub(crate) fn resolve(&self, node: &Node, path: &str) -> Resolved {
        let kind = match &node.kind {
            Kind::Null => {
                return Err(TemplateError::new(node.mark, path, "has no value"));
            }
            Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => return Ok(Some(node.clone())),
            Kind::List(items) => Kind::List(self.resolve_items(items, path)?),
            Kind::Map(entries) => Kind::Map(self.resolve_entries(entries, path)?),
            Kind::Call(intrinsic, argument) => {
                return self.call(*intrinsic, argument, node.mark, path);
            }
        };
        Ok(Some(Node { mark: node.mark, kind }))
    }

    fn resolve_items(&self, items: &[Node], path: &str) -> Result<Vec<Node>> {
        let resolved = items.iter().enumerate();
        let resolved =
            resolved.map(|(index, item)| self.resolve(item, &format!("{path}[{index}]")));
        resolved.filter_map(Result::transpose).collect()
    }

    fn resolve_entries(&self, entries: &[Entry], path: &str) -> Result<Vec<Entry>> {
        let resolved = entries.iter().map(|Entry { key, mark, value }| {
            let value = self.resolve(value, &child(path, key))?;
            Ok(value.map(|value| Entry { key: key.clone(), mark: *mark, value }))
        });
        resolved.filter_map(Result::transpose).collect()
    }

    fn call(&self, intrinsic: Intrinsic, argument: &Node, mark: Mark, path: &str) -> Resolved {
        match intrinsic {
            Intrinsic::Ref => {
                let Kind::String(name) = &argument.kind else {
                    return Err(TemplateError::new(mark, path, "Ref takes a name"));
                };
                self.reference(name, mark, path)
            }
            Intrinsic::GetAtt => self.get_att(argument, mark, path).map(Some),
            Intrinsic::Sub => self.sub(argument, mark, path).map(Some),
            Intrinsic::Join => self.join(argument, mark, path).map(Some),
            Intrinsic::Select => self.select(argument, mark, path).map(Some),
            Intrinsic::Split => self.split(argument, mark, path).map(Some),
            Intrinsic::FindInMap => self.find_in_map(argument, mark, path).map(Some),
            Intrinsic::If => self.fn_if(argument, mark, path),
            Intrinsic::Equals
            | Intrinsic::And
            | Intrinsic::Or
            | Intrinsic::Not
            | Intrinsic::Condition => {
                let reason = format!("`{}` belongs in the Conditions section", intrinsic.name());
                Err(TemplateError::new(mark, path, reason))
            }
        }
    }

    /// `Fn::If`. The branch not taken is not evaluated, since it may refer to resources that do
    /// not exist.
    fn fn_if(&self, argument: &Node, mark: Mark, path: &str) -> Resolved {
        let usage = || {
            let reason = "Fn::If takes [condition, value if true, value if false]";
            TemplateError::new(mark, path, reason)
        };
        let Kind::List(items) = &argument.kind else {
            return Err(usage());
        };
        let [name, yes, no] = items.as_slice() else {
            return Err(usage());
        };
        let Kind::String(name) = &name.kind else {
            return Err(usage());
        };
        let taken = if self.condition(name, mark, path)? { yes } else { no };
        self.resolve(taken, path)
    }
}
