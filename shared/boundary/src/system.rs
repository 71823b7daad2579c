//! A system with all of its parts, for the local cloud, the OpenAPI document and the contract tests. No deployed function names one: that would link every handler and every schema into it.

use std::fmt;
use std::sync::Arc;

use store::schema::Schema;

use crate::http::Operation;
use crate::openapi::Document;
use crate::{Function, Host, Misconfigured};

/// What makes Lambda invoke a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// A request to the HTTP API.
    Http,
    /// Messages of an SQS queue.
    Queue,
    /// A rate or a cron expression.
    Schedule,
    /// What happens on a WebSocket API.
    Socket,
}

/// Makes instances of a function.
#[derive(Clone)]
pub struct FunctionFactory(Arc<MakeInstance>);

type MakeInstance = dyn Fn(&Host) -> Result<Arc<dyn Function>, Misconfigured> + Send + Sync;

impl FunctionFactory {
    /// By calling `function`.
    pub fn new<F: Function + 'static>(function: fn(&Host) -> Result<F, Misconfigured>) -> Self {
        Self(Arc::new(move |host| Ok(Arc::new(function(host)?))))
    }

    /// An instance on `host`.
    pub fn create(&self, host: &Host) -> Result<Arc<dyn Function>, Misconfigured> {
        self.0(host)
    }
}

impl fmt::Debug for FunctionFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionFactory").finish_non_exhaustive()
    }
}

/// One function of a system.
#[derive(Debug, Clone)]
pub struct SystemFunction {
    pub name: &'static str,
    /// What invokes it.
    pub trigger: Trigger,
    /// Makes an instance.
    pub build: FunctionFactory,
}

/// The operations of one function, under one tag of the document.
#[derive(Debug, Clone, Copy)]
struct TaggedOperations {
    function: &'static str,
    tag: &'static str,
    about: &'static str,
    operations: fn(&mut Document),
}

/// Functions that are deployed together, or not at all.
#[derive(Debug, Clone)]
pub struct System {
    /// Its name in parameters, folders and templates.
    pub name: &'static str,
    /// Its name for people, and its heading in the document.
    pub title: &'static str,
    /// What it is for, in a sentence.
    pub about: &'static str,
    /// Whether a deployment may leave it out.
    pub is_optional: bool,
    /// Commands to try first, a line each. `$A` is the header of the first admin.
    pub example: &'static str,
    functions: Vec<SystemFunction>,
    tagged: Vec<TaggedOperations>,
    tables: Vec<Schema>,
}

impl System {
    /// A system without functions yet.
    pub const fn new(name: &'static str, title: &'static str, about: &'static str) -> Self {
        Self {
            name,
            title,
            about,
            is_optional: true,
            example: "",
            functions: Vec::new(),
            tagged: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// With commands to try first.
    #[must_use]
    pub fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// Part of every deployment, because other systems need it.
    #[must_use]
    pub fn always_deployed(self) -> Self {
        Self { is_optional: false, ..self }
    }

    /// The template's parameter that switches it.
    pub fn parameter(&self) -> String {
        let (first, rest) = self.name.split_at(1);
        first.to_uppercase() + rest
    }

    /// With a function that answers HTTP, and its list of operations.
    #[must_use]
    pub fn http<F: Function + 'static>(
        self,
        name: &'static str,
        function: fn(&Host) -> Result<F, Misconfigured>,
        operations: fn(&mut Document),
    ) -> Self {
        let (tag, about) = (self.title, self.about);
        self.http_tagged(name, (tag, about), function, operations)
    }

    /// With another function that answers HTTP, under a tag of its own.
    #[must_use]
    pub fn http_tagged<F: Function + 'static>(
        mut self,
        name: &'static str,
        (tag, about): (&'static str, &'static str),
        function: fn(&Host) -> Result<F, Misconfigured>,
        operations: fn(&mut Document),
    ) -> Self {
        self.tagged.push(TaggedOperations { function: name, tag, about, operations });
        self.add(name, Trigger::Http, function)
    }

    /// With a function that takes the messages of a queue.
    #[must_use]
    pub fn queue<F: Function + 'static>(
        self,
        name: &'static str,
        function: fn(&Host) -> Result<F, Misconfigured>,
    ) -> Self {
        self.add(name, Trigger::Queue, function)
    }

    /// With a function that a schedule invokes.
    #[must_use]
    pub fn schedule<F: Function + 'static>(
        self,
        name: &'static str,
        function: fn(&Host) -> Result<F, Misconfigured>,
    ) -> Self {
        self.add(name, Trigger::Schedule, function)
    }

    /// With a function behind a WebSocket API.
    #[must_use]
    pub fn socket<F: Function + 'static>(
        self,
        name: &'static str,
        function: fn(&Host) -> Result<F, Misconfigured>,
    ) -> Self {
        self.add(name, Trigger::Socket, function)
    }

    /// With a table of its own.
    #[must_use]
    pub fn table(mut self, schema: &Schema) -> Self {
        self.tables.push(*schema);
        self
    }

    fn add<F: Function + 'static>(
        mut self,
        name: &'static str,
        trigger: Trigger,
        function: fn(&Host) -> Result<F, Misconfigured>,
    ) -> Self {
        self.functions.push(SystemFunction {
            name,
            trigger,
            build: FunctionFactory::new(function),
        });
        self
    }

    pub fn functions(&self) -> &[SystemFunction] {
        &self.functions
    }

    pub fn tables(&self) -> &[Schema] {
        &self.tables
    }

    /// Adds its operations to the document.
    pub fn describe(&self, document: &mut Document) {
        for section in &self.tagged {
            document.tag(self.name, section.tag, section.about);
            (section.operations)(document);
        }
    }

    /// Its operations, each with the function that answers it.
    pub fn operations(&self) -> Vec<(&'static str, Operation)> {
        let listed = |section: &TaggedOperations| {
            let mut document = Document::default();
            (section.operations)(&mut document);
            let function = section.function;
            document.operations().iter().map(|it| (function, *it)).collect::<Vec<_>>()
        };
        self.tagged.iter().flat_map(listed).collect()
    }
}
