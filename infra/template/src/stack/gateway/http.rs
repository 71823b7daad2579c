//! Puts HTTP APIs together, and finds the functions that their routes lead to.

use crate::error::Result;
use crate::names;
use crate::stack::gateway::{Integration, Part, Parts, Route};
use crate::vocabulary::gateway as vocabulary;
use crate::{Function, HttpApi, Resource, RouteKey};

/// An API with its stage, and every route with the logical id of the function that it leads to.
pub(crate) type Assembled = (HttpApi, Vec<(String, crate::HttpRoute)>);

/// The APIs, with everything that names them. `permissions` say who may invoke which function.
pub(crate) fn assemble(
    parts: &Parts,
    functions: &[&Function],
    permissions: &[&Resource],
) -> Result<Vec<Assembled>> {
    parts.http.iter().map(|api| one(api, parts, functions, permissions)).collect()
}

fn one(
    part: &Part<HttpApi>,
    parts: &Parts,
    functions: &[&Function],
    permissions: &[&Resource],
) -> Result<Assembled> {
    let mut api = part.value.clone();
    let mut stages = parts.stages_of(&part.value.id);
    let Some(stage) = stages.next() else {
        return Err(part.error("an API serves nothing without an AWS::ApiGatewayV2::Stage"));
    };
    stage.check()?;
    if let Some(second) = stages.next() {
        let reason = format!("only one stage is understood, and `{}` is one already", stage.id);
        return Err(second.error(reason));
    }
    api.stage.clone_from(&stage.value.name);
    api.throttling_burst = stage.value.throttling.burst;
    api.throttling_rate = stage.value.throttling.rate;

    for integration in parts.integrations_of(&api.id) {
        integration.check_http(functions)?;
    }
    let mut seen: Vec<&Part<Route>> = Vec::new();
    let mut routes = Vec::new();
    for route in parts.routes_of(&api.id) {
        if let Some(first) = seen.iter().find(|first| first.value.key == route.value.key) {
            let (file, line) = (first.file.display(), first.mark.line);
            let key = &route.value.key;
            let reason = format!("the API has a route `{key}` already, see {file}:{line}");
            return Err(route.error(reason));
        }
        seen.push(route);
        let key = route.http_key()?;
        let function = parts.target(route)?.check_http(functions)?;
        if !permissions.iter().any(|permission| permits(permission, &api.id, function)) {
            let id = &function.logical_id;
            return Err(route.error(format!(
                "API Gateway may not invoke `{id}`: it needs an AWS::Lambda::Permission for \
                 `lambda:InvokeFunction` with `Principal: apigateway.amazonaws.com`, and if any \
                 `SourceArn` one of this API"
            )));
        }
        let (event_id, api_id, line) = (route.id.clone(), api.id.clone(), route.mark.line);
        let route = crate::HttpRoute { event_id, api_id, key, line };
        routes.push((function.logical_id.clone(), route));
    }
    Ok((api, routes))
}

/// Whether an `AWS::Lambda::Permission` lets requests of the API through to the function.
fn permits(permission: &Resource, api: &str, function: &Function) -> bool {
    let property = |key: &str| permission.properties[key].as_str();
    let named = property("FunctionName");
    let source = names::arn("execute-api", &format!("{api}/"));
    property("Principal") == Some("apigateway.amazonaws.com")
        && property("Action") == Some("lambda:InvokeFunction")
        && (named == Some(&function.name) || named == Some(&function.arn))
        && property("SourceArn").is_none_or(|arn| arn.starts_with(&source))
}

impl Part<Route> {
    fn http_key(&self) -> Result<RouteKey> {
        if let Some(key) = vocabulary::ROUTE_OF_SOCKETS.iter().find(|key| self.has(key)) {
            return Err(self.error(format!("`{key}` is for the routes of WebSocket APIs")));
        }
        let key = &self.value.key;
        RouteKey::parse(key).ok_or_else(|| {
            let reason = "`RouteKey` must be $default, or a method and a path like `GET /x`";
            self.error(format!("{reason}, found `{key}`"))
        })
    }
}

impl Part<Integration> {
    /// The function that requests of an HTTP API are passed to.
    fn check_http<'a>(&self, functions: &[&'a Function]) -> Result<&'a Function> {
        self.check_kind()?;
        if let Some(key) = vocabulary::INTEGRATION_REFUSED.iter().find(|key| self.has(key)) {
            return Err(self.error(format!("`{key}` is not understood")));
        }
        if self.value.payload.as_deref() != Some("2.0") {
            let found = self.value.payload.as_deref().unwrap_or("nothing");
            let reason = format!("`PayloadFormatVersion` must be \"2.0\", found {found}");
            return Err(self.error(reason));
        }
        if let Some(method) = self.value.method.as_deref().filter(|method| *method != "POST") {
            let reason =
                format!("functions are invoked with `IntegrationMethod: POST`, not {method}");
            return Err(self.error(reason));
        }
        let uri = self.value.uri.as_deref();
        let plain = functions.iter().copied().find(|function| Some(function.arn.as_str()) == uri);
        plain.or_else(|| self.invoked(functions)).ok_or_else(|| {
            self.error(
                "`IntegrationUri` must be the ARN of a function, or arn:aws:apigateway:\
                 ${AWS::Region}:lambda:path/2015-03-31/functions/${Function.Arn}/invocations",
            )
        })
    }
}
