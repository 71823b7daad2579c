//! Reads the `Events` of a function: what invokes it.

use std::fmt;

use serde_json::Value;

use crate::error::Result;
use crate::field::Field;
use crate::stack::schedule::{self, Schedule};
use crate::stack::topic::{self, FilterScope};
use crate::vocabulary;

/// A route of an HTTP API that invokes the function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRoute {
    /// Its key in the `Events` section, or the logical id of its `AWS::ApiGatewayV2::Route`.
    pub event_id: String,
    /// The id of the API.
    pub api_id: String,
    /// Which requests it takes.
    pub key: RouteKey,
    /// The line of its key.
    pub line: usize,
}

/// Which requests a route takes; prints as API Gateway's `routeKey` does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RouteKey {
    /// `$default`: requests that no other route takes.
    Default,
    /// A path, and a method unless every one is meant.
    Path {
        /// In capitals; `None` stands for `ANY`.
        method: Option<String>,
        /// Such as `/api/v1/ids/{id}`.
        path: String,
    },
}

/// The methods a route may take.
const METHODS: [&str; 8] = ["ANY", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

impl RouteKey {
    /// Reads API Gateway's `routeKey`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text == "$default" {
            return Some(Self::Default);
        }
        let (method, path) = text.split_once(' ')?;
        if !METHODS.contains(&method) || !path.starts_with('/') || path.contains(' ') {
            return None;
        }
        let method = (method != "ANY").then(|| method.to_owned());
        Some(Self::Path { method, path: path.to_owned() })
    }
}

impl fmt::Display for RouteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("$default"),
            Self::Path { method, path } => {
                write!(f, "{} {path}", method.as_deref().unwrap_or("ANY"))
            }
        }
    }
}

/// A queue whose messages invoke the function.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueEvent {
    /// Its key in the `Events` section.
    pub event_id: String,
    /// The ARN of the queue.
    pub queue_arn: String,
    /// How many messages at most come in one invocation.
    pub batch_size: u64,
    /// How long a batch may wait to fill.
    pub window_seconds: u64,
    /// How many invocations this queue may cause at once.
    pub max_concurrency: Option<u64>,
    /// Whether the function names the messages that failed, so that only they come again.
    pub report_batch_item_failures: bool,
    /// The patterns of which a message must match one; none lets all through.
    pub filters: Vec<Value>,
    /// Whether it is switched on.
    pub enabled: bool,
    /// The line of its key.
    pub line: usize,
}

/// A topic whose messages invoke the function.
#[derive(Debug, Clone, PartialEq)]
pub struct TopicEvent {
    /// Its key in the `Events` section.
    pub event_id: String,
    /// The ARN of the topic.
    pub topic_arn: String,
    /// What a message must match.
    pub filter_policy: Option<Value>,
    /// What the filter looks at.
    pub filter_scope: FilterScope,
    /// The ARN of the queue for messages that cannot be delivered.
    pub dead_letter_arn: Option<String>,
    /// The line of its key.
    pub line: usize,
}

/// All events of a function, by kind.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub(crate) routes: Vec<HttpRoute>,
    pub(crate) queues: Vec<QueueEvent>,
    pub(crate) schedules: Vec<Schedule>,
    pub(crate) topics: Vec<TopicEvent>,
}

pub(crate) fn read(properties: &Field<'_>) -> Result<Events> {
    let mut events = Events::default();
    let Some(section) = properties.get("Events")? else {
        return Ok(events);
    };
    for (id, event) in section.entries()? {
        event.only(&["Type", "Properties"])?;
        let kind = event.required("Type")?;
        let details = event.required("Properties")?;
        match kind.text()?.as_str() {
            "HttpApi" => events.routes.push(route(id, &details, &event)?),
            "SQS" => events.queues.push(queue_event(id, &details, &event)?),
            "SNS" => events.topics.push(topic_event(id, &details, &event)?),
            "Schedule" => events.schedules.push(schedule::read(id, &details, &event)?),
            "ScheduleV2" => events.schedules.push(schedule::read_v2(id, &details, &event)?),
            other => {
                let reason = format!(
                    "unsupported event type `{other}`; supported are HttpApi, SQS, SNS, Schedule \
                     and ScheduleV2"
                );
                return Err(kind.error(reason));
            }
        }
    }
    Ok(events)
}

fn route(id: &str, details: &Field<'_>, event: &Field<'_>) -> Result<HttpRoute> {
    details.only(vocabulary::HTTP_API_EVENT)?;
    let key = match (details.get("Path")?, details.get("Method")?) {
        (None, None) => RouteKey::Default,
        (Some(path), Some(method)) => route_key(&path, &method)?,
        (Some(path), None) => return Err(path.error("a route with a Path needs a Method")),
        (None, Some(method)) => return Err(method.error("a route with a Method needs a Path")),
    };
    // Without an ApiId SAM invents an API that the template does not show.
    let api_id = details.required("ApiId")?.text()?;
    Ok(HttpRoute { event_id: id.to_owned(), api_id, key, line: event.key_mark.line })
}

fn route_key(path: &Field<'_>, method: &Field<'_>) -> Result<RouteKey> {
    let text = path.text()?;
    if text == "$default" {
        return Ok(RouteKey::Default);
    }
    if !text.starts_with('/') {
        return Err(path.expected("a path that starts with `/`"));
    }
    let written = method.text()?.to_uppercase();
    if !METHODS.contains(&written.as_str()) {
        return Err(method.expected(&format!("one of {}", METHODS.join(", "))));
    }
    Ok(RouteKey::Path { method: (written != "ANY").then_some(written), path: text })
}

fn queue_event(id: &str, details: &Field<'_>, event: &Field<'_>) -> Result<QueueEvent> {
    details.only(vocabulary::SQS_EVENT)?;
    let queue_arn = details.required("Queue")?.text()?;
    let batch_size = details.number_at("BatchSize", 1..=10_000)?.unwrap_or(10);
    let window = details.number_at("MaximumBatchingWindowInSeconds", 0..=300)?.unwrap_or(0);
    if batch_size > 10 && window == 0 {
        let reason = "a BatchSize over 10 needs a MaximumBatchingWindowInSeconds of at least 1";
        return Err(details.error(reason));
    }
    let scaling = details.get("ScalingConfig")?;
    let concurrency = scaling.map(|scaling| scaling.number_at("MaximumConcurrency", 2..=1000));
    let mut report = false;
    for kind in details.items_at("FunctionResponseTypes")? {
        report |= kind.choice(&[("ReportBatchItemFailures", true)])?;
    }
    Ok(QueueEvent {
        event_id: id.to_owned(),
        queue_arn,
        batch_size,
        window_seconds: window,
        max_concurrency: concurrency.transpose()?.flatten(),
        report_batch_item_failures: report,
        filters: filters(details)?,
        enabled: details.flag_at("Enabled")?.unwrap_or(true),
        line: event.key_mark.line,
    })
}

fn filters(details: &Field<'_>) -> Result<Vec<Value>> {
    let Some(criteria) = details.get("FilterCriteria")? else {
        return Ok(Vec::new());
    };
    criteria.only(&["Filters"])?;
    let filters = criteria.required("Filters")?.items()?;
    filters.iter().map(|filter| filter.required("Pattern")?.document()).collect()
}

fn topic_event(id: &str, details: &Field<'_>, event: &Field<'_>) -> Result<TopicEvent> {
    details.only(vocabulary::SNS_EVENT)?;
    if let Some(queue) = details.get("SqsSubscription")? {
        return Err(queue.error("unsupported; subscribe a queue and use an SQS event instead"));
    }
    Ok(TopicEvent {
        event_id: id.to_owned(),
        topic_arn: details.required("Topic")?.text()?,
        filter_policy: details.get("FilterPolicy")?.map(|field| field.document()).transpose()?,
        filter_scope: topic::filter_scope(details)?,
        dead_letter_arn: topic::dead_letter_arn(details)?,
        line: event.key_mark.line,
    })
}
