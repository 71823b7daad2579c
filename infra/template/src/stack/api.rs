//! Reads HTTP APIs: `AWS::Serverless::HttpApi`, and `AWS::ApiGatewayV2::Api` of that protocol.

use crate::Stack;
use crate::error::{Result, TemplateError};
use crate::field::Field;
use crate::node::{Kind, Node};
use crate::resolve::Resolver;
use crate::stack::build::Item;
use crate::vocabulary::gateway as vocabulary;

/// An HTTP API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpApi {
    /// Its key in the `Resources` section.
    pub logical_id: String,
    /// Its id, which routes name.
    pub id: String,
    /// The stage; `$default` is the one without a path prefix.
    pub stage: String,
    /// What browsers of other origins may do; `None` is nothing.
    pub cors: Option<Cors>,
    /// How many requests may come at once.
    pub throttling_burst: Option<u64>,
    /// How many requests per second may come on average.
    pub throttling_rate: Option<u64>,
    /// The line of its key.
    pub line: usize,
}

/// What browsers of other origins may do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cors {
    /// From which origins.
    pub allow_origins: Vec<String>,
    /// With which methods.
    pub allow_methods: Vec<String>,
    /// With which request headers.
    pub allow_headers: Vec<String>,
    /// Which response headers scripts see.
    pub expose_headers: Vec<String>,
    /// Whether with cookies.
    pub allow_credentials: bool,
    /// How long the answer to a preflight holds.
    pub max_age_seconds: Option<u64>,
}

/// What an API of API Gateway speaks.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Protocol {
    Http,
    WebSocket,
}

/// How many requests are let through.
#[derive(Debug, Default)]
pub(crate) struct Throttling {
    pub(crate) burst: Option<u64>,
    pub(crate) rate: Option<u64>,
}

pub(crate) fn read(item: &Item<'_>) -> Result<HttpApi> {
    let properties = &item.properties;
    properties.only(&[vocabulary::GLOBAL_HTTP_API, vocabulary::OWN_HTTP_API].concat())?;
    let throttling = throttling(properties)?;
    Ok(HttpApi {
        logical_id: item.id(),
        id: item.name.clone(),
        stage: properties.text_at("StageName")?.unwrap_or_else(|| "$default".to_owned()),
        cors: properties.get("CorsConfiguration")?.map(|field| cors(&field)).transpose()?,
        throttling_burst: throttling.burst,
        throttling_rate: throttling.rate,
        line: item.line(),
    })
}

/// Reads an API of API Gateway. Its stage is another resource, which may come later.
pub(crate) fn read_http(item: &Item<'_>) -> Result<HttpApi> {
    let properties = &item.properties;
    for key in vocabulary::HTTP_API_REFUSED {
        if let Some(field) = properties.get(key)? {
            let reason = "not understood; write routes as AWS::ApiGatewayV2::Route";
            return Err(TemplateError::new(field.key_mark, &field.path, reason));
        }
    }
    properties.only(vocabulary::HTTP_API)?;
    Ok(HttpApi {
        logical_id: item.id(),
        id: item.name.clone(),
        stage: String::new(),
        cors: properties.get("CorsConfiguration")?.map(|field| cors(&field)).transpose()?,
        throttling_burst: None,
        throttling_rate: None,
        line: item.line(),
    })
}

/// What an `AWS::ApiGatewayV2::Api` speaks.
pub(crate) fn protocol(item: &Item<'_>) -> Result<Protocol> {
    let protocols = [("HTTP", Protocol::Http), ("WEBSOCKET", Protocol::WebSocket)];
    item.properties.required("ProtocolType")?.choice(&protocols)
}

/// The same, of properties that are not evaluated yet.
pub(crate) fn is_websocket(properties: &Node) -> bool {
    let protocol = properties.get("ProtocolType").map(|entry| &entry.value.kind);
    matches!(protocol, Some(Kind::String(protocol)) if protocol == "WEBSOCKET")
}

/// The `DefaultRouteSettings` of an API or a stage.
pub(crate) fn throttling(properties: &Field<'_>) -> Result<Throttling> {
    let Some(settings) = properties.get("DefaultRouteSettings")? else {
        return Ok(Throttling::default());
    };
    settings.only(vocabulary::ROUTE_SETTINGS)?;
    Ok(Throttling {
        burst: settings.number_at("ThrottlingBurstLimit", 0..=u64::MAX)?,
        rate: settings.number_at("ThrottlingRateLimit", 0..=u64::MAX)?,
    })
}

fn cors(field: &Field<'_>) -> Result<Cors> {
    field.only(vocabulary::CORS)?;
    Ok(Cors {
        allow_origins: field.texts_at("AllowOrigins")?,
        allow_methods: field.texts_at("AllowMethods")?,
        allow_headers: field.texts_at("AllowHeaders")?,
        expose_headers: field.texts_at("ExposeHeaders")?,
        allow_credentials: field.flag_at("AllowCredentials")?.unwrap_or(false),
        max_age_seconds: field.number_at("MaxAge", 0..=86_400)?,
    })
}

/// Refuses `HttpApi` events whose API SAM would not find. It writes their routes into the API, so
/// that must be an `AWS::Serverless::HttpApi` of the same template.
pub(crate) fn check_events(stack: &Stack, resolver: &Resolver<'_>) -> Result {
    for function in &stack.functions {
        for route in &function.routes {
            if stack.apis.iter().any(|api| api.id == route.api_id) {
                continue;
            }
            let path =
                format!("Resources.{}.Properties.Events.{}", function.logical_id, route.event_id);
            let reason = format!(
                "the ApiId of an HttpApi event must be an AWS::Serverless::HttpApi of the same \
                 template, found `{}`",
                route.api_id
            );
            let mark = resolver.event_mark(&function.logical_id, &route.event_id);
            return Err(TemplateError::new(mark, &path, reason));
        }
    }
    Ok(())
}
