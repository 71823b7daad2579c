//! Reads `AWS::Serverless::Function`.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::field::Field;
use crate::stack::build::Item;
use crate::stack::events::{self, HttpRoute, QueueEvent, TopicEvent};
use crate::stack::policies::{self, PolicyTemplate, Statement};
use crate::stack::schedule::Schedule;
use crate::vocabulary;

/// A Lambda function and everything that invokes it.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its key in the `Resources` section.
    pub logical_id: String,
    /// Its physical name.
    pub name: String,
    pub arn: String,
    /// `CodeUri` as written, such as `target/lambda/ids/`.
    pub code_uri: String,
    /// The last component of `CodeUri`, which is the name of the cargo binary.
    pub binary: String,
    /// The handler, which custom runtimes ignore.
    pub handler: Option<String>,
    /// The runtime, such as `provided.al2023`.
    pub runtime: Option<String>,
    /// The instruction set; Lambda allows one.
    pub architectures: Vec<String>,
    /// Memory in megabytes.
    pub memory_mb: u64,
    /// How long one invocation may take.
    pub timeout_seconds: u64,
    /// The environment variables.
    pub environment: BTreeMap<String, String>,
    /// The statements of all inline policy documents.
    pub policies: Vec<Statement>,
    /// SAM policy templates, unexpanded.
    pub policy_templates: Vec<PolicyTemplate>,
    /// Managed policies, by ARN or name.
    pub managed_policies: Vec<String>,
    /// X-Ray tracing.
    pub tracing: Tracing,
    /// The log group of `LoggingConfig`.
    pub log_group: Option<String>,
    /// `HttpApi` events, and then the routes of `AWS::ApiGatewayV2::Api` that lead to it.
    pub routes: Vec<HttpRoute>,
    pub queue_events: Vec<QueueEvent>,
    /// `Schedule` and `ScheduleV2` events.
    pub schedules: Vec<Schedule>,
    pub topic_events: Vec<TopicEvent>,
    /// How many invocations may run at once; `None` leaves it to the account.
    pub reserved_concurrency: Option<u64>,
    /// The line of its key.
    pub line: usize,
}

/// Whether invocations are traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracing {
    /// Every sampled invocation is.
    Active,
    /// Only those whose caller is.
    PassThrough,
    Disabled,
}

pub(crate) fn read(item: &Item<'_>) -> Result<Function> {
    let properties = &item.properties;
    properties.only(&[vocabulary::GLOBAL_FUNCTION, vocabulary::OWN_FUNCTION].concat())?;
    let code_uri = properties.required("CodeUri")?;
    let policies = policies::read(properties)?;
    let events = events::read(properties)?;
    let logging = properties.get("LoggingConfig")?;
    Ok(Function {
        logical_id: item.id(),
        name: item.name.clone(),
        arn: item.attribute("Arn"),
        binary: binary(&code_uri)?,
        code_uri: code_uri.text()?,
        handler: properties.text_at("Handler")?,
        runtime: properties.text_at("Runtime")?,
        architectures: architectures(properties)?,
        memory_mb: properties.number_at("MemorySize", 128..=10_240)?.unwrap_or(128),
        timeout_seconds: properties.number_at("Timeout", 1..=900)?.unwrap_or(3),
        environment: environment(properties)?,
        policies: policies.statements,
        policy_templates: policies.templates,
        managed_policies: policies.managed,
        tracing: tracing(properties)?,
        log_group: logging.map(|logging| logging.text_at("LogGroup")).transpose()?.flatten(),
        routes: events.routes,
        queue_events: events.queues,
        schedules: events.schedules,
        topic_events: events.topics,
        reserved_concurrency: properties.number_at("ReservedConcurrentExecutions", 0..=100_000)?,
        line: item.line(),
    })
}

fn binary(code_uri: &Field<'_>) -> Result<String> {
    let text = code_uri.text()?;
    let last = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if last.is_empty() || last == "." || last == ".." {
        return Err(code_uri.expected("a path that ends in the name of a binary"));
    }
    Ok(last.to_owned())
}

fn architectures(properties: &Field<'_>) -> Result<Vec<String>> {
    let Some(field) = properties.get("Architectures")? else {
        return Ok(vec!["x86_64".to_owned()]);
    };
    let items = field.items()?;
    if items.len() != 1 {
        let reason = format!("Lambda takes one architecture, found {}", items.len());
        return Err(field.error(reason));
    }
    for item in &items {
        item.choice(&[("arm64", ()), ("x86_64", ())])?;
    }
    field.texts()
}

fn environment(properties: &Field<'_>) -> Result<BTreeMap<String, String>> {
    let Some(environment) = properties.get("Environment")? else {
        return Ok(BTreeMap::new());
    };
    environment.only(&["Variables"])?;
    let variables = environment.entries_at("Variables")?;
    variables.into_iter().map(|(name, value)| Ok((name.to_owned(), value.text()?))).collect()
}

fn tracing(properties: &Field<'_>) -> Result<Tracing> {
    let Some(field) = properties.get("Tracing")? else {
        return Ok(Tracing::Disabled);
    };
    field.choice(&[
        ("Active", Tracing::Active),
        ("PassThrough", Tracing::PassThrough),
        ("Disabled", Tracing::Disabled),
    ])
}
