//! Reads WebSocket APIs: `AWS::ApiGatewayV2::Api`, `Route`, `Integration` and `Stage`.
//!
//! CloudFormation writes an API as four kinds of resources that name each other, in any order. They
//! are gathered while the file is read and put together at its end, so that a [`WebSocketApi`] says
//! which function each route leads to. What the local cloud could not do as API Gateway does it is
//! refused with its line. HTTP APIs that are written this way stay plain resources.

use crate::Function;
use crate::error::{Mark, TemplateError};
use crate::field::Field;
use crate::stack::build::Item;

/// A WebSocket API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebSocketApi {
    /// Its key in the `Resources` section.
    pub logical_id: String,
    /// Its id, which is the beginning of its host name.
    pub id: String,
    /// The names that lead to the value in a message that names its route: `["action"]` for
    /// `$request.body.action`.
    pub selection: Vec<String>,
    /// Its routes.
    pub routes: Vec<SocketRoute>,
    /// Its stages; the path of each is where clients connect.
    pub stages: Vec<String>,
    /// The line of its key.
    pub line: usize,
}

/// A route of a WebSocket API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketRoute {
    /// `$connect`, `$disconnect`, `$default`, or what a message says.
    pub key: String,
    /// The logical id of the function it leads to.
    pub function: String,
    /// The line of its key.
    pub line: usize,
}

impl WebSocketApi {
    /// The route with that key.
    pub fn route(&self, key: &str) -> Option<&SocketRoute> {
        self.routes.iter().find(|route| route.key == key)
    }
}

/// What was gathered so far.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    apis: Vec<WebSocketApi>,
    routes: Vec<Part<Route>>,
    integrations: Vec<Part<Integration>>,
    stages: Vec<Part<Stage>>,
}

/// A resource that belongs to an API, and where it is written.
#[derive(Debug)]
struct Part<T> {
    api: String,
    path: String,
    mark: Mark,
    it: T,
}

#[derive(Debug)]
struct Route {
    key: String,
    target: Option<String>,
    authorized: bool,
    responds: bool,
}

#[derive(Debug)]
struct Integration {
    id: String,
    kind: String,
    uri: Option<String>,
}

#[derive(Debug)]
struct Stage {
    name: String,
    deployed: bool,
}

const STAGE: &[&str] = &[
    "AccessLogSettings",
    "AccessPolicyId",
    "ApiId",
    "AutoDeploy",
    "ClientCertificateId",
    "DefaultRouteSettings",
    "DeploymentId",
    "Description",
    "RouteSettings",
    "StageName",
    "StageVariables",
    "Tags",
];

const ROUTE: &[&str] = &[
    "ApiId",
    "ApiKeyRequired",
    "AuthorizationScopes",
    "AuthorizationType",
    "AuthorizerId",
    "ModelSelectionExpression",
    "OperationName",
    "RequestModels",
    "RequestParameters",
    "RouteKey",
    "RouteResponseSelectionExpression",
    "Target",
];

impl Parts {
    /// Takes a resource, if it is one of these.
    pub(crate) fn add(&mut self, item: &Item<'_>) -> Result<(), TemplateError> {
        let properties = &item.properties;
        match item.declaration.kind.as_str() {
            "AWS::ApiGatewayV2::Api"
                if properties.text_at("ProtocolType")?.as_deref() == Some("WEBSOCKET") =>
            {
                self.apis.push(read_api(item)?);
            }
            "AWS::ApiGatewayV2::Route" => {
                properties.only(ROUTE)?;
                let authorization = properties.text_at("AuthorizationType")?;
                let route = Route {
                    key: properties.required("RouteKey")?.text()?,
                    target: properties.text_at("Target")?,
                    authorized: authorization.is_some_and(|kind| kind != "NONE"),
                    responds: properties.get("RouteResponseSelectionExpression")?.is_some(),
                };
                self.routes.push(part(item, route)?);
            }
            "AWS::ApiGatewayV2::Integration" => {
                let integration = Integration {
                    id: item.name.clone(),
                    kind: properties.required("IntegrationType")?.text()?,
                    uri: properties.text_at("IntegrationUri")?,
                };
                self.integrations.push(part(item, integration)?);
            }
            "AWS::ApiGatewayV2::Stage" => {
                properties.only(STAGE)?;
                let automatic = properties.flag_at("AutoDeploy")?.unwrap_or(false);
                let stage = Stage {
                    name: properties.required("StageName")?.text()?,
                    deployed: automatic || properties.get("DeploymentId")?.is_some(),
                };
                self.stages.push(part(item, stage)?);
            }
            _ => {}
        }
        Ok(())
    }

    /// The APIs, with everything that names them.
    pub(crate) fn assemble(
        self,
        functions: &[Function],
    ) -> Result<Vec<WebSocketApi>, TemplateError> {
        let mut apis = self.apis;
        for api in &mut apis {
            for stage in self.stages.iter().filter(|stage| stage.api == api.id) {
                if !stage.it.deployed {
                    let reason = "a stage serves nothing without `AutoDeploy: true` or a \
                                  DeploymentId";
                    return Err(stage.error(reason));
                }
                api.stages.push(stage.it.name.clone());
            }
            for route in self.routes.iter().filter(|route| route.api == api.id) {
                if api.route(&route.it.key).is_some() {
                    let reason = format!("the API has a route `{}` already", route.it.key);
                    return Err(route.error(reason));
                }
                let function = route.function(&self.integrations, functions)?;
                let key = route.it.key.clone();
                api.routes.push(SocketRoute { key, function, line: route.mark.line });
            }
        }
        Ok(apis)
    }
}

impl<T> Part<T> {
    fn error(&self, reason: impl Into<String>) -> TemplateError {
        TemplateError::new(self.mark, &self.path, reason)
    }
}

impl Part<Route> {
    /// The logical id of the function that the route leads to.
    fn function(
        &self,
        integrations: &[Part<Integration>],
        functions: &[Function],
    ) -> Result<String, TemplateError> {
        if self.it.authorized {
            return Err(self.error("authorizers are not understood; use `AuthorizationType: NONE`"));
        }
        if self.it.responds {
            return Err(self.error("route responses are not understood; post to the connection"));
        }
        let id = self.it.target.as_deref().and_then(|target| target.strip_prefix("integrations/"));
        let integration = id
            .and_then(|id| integrations.iter().find(|it| it.api == self.api && it.it.id == id))
            .ok_or_else(|| {
                self.error("`Target` must be `integrations/` and an integration of the same API")
            })?;
        if integration.it.kind != "AWS_PROXY" {
            let reason = format!(
                "only integrations of type AWS_PROXY are understood, not {}",
                integration.it.kind
            );
            return Err(integration.error(reason));
        }
        let uri = integration.it.uri.as_deref().unwrap_or_default();
        let arn = uri
            .split_once(":lambda:path/2015-03-31/functions/")
            .filter(|(start, _)| start.starts_with("arn:aws:apigateway:"))
            .and_then(|(_, rest)| rest.strip_suffix("/invocations"));
        let function = functions.iter().find(|function| Some(function.arn.as_str()) == arn);
        function.map(|function| function.logical_id.clone()).ok_or_else(|| {
            integration.error(
                "`IntegrationUri` must be arn:aws:apigateway:${AWS::Region}:lambda:path/2015-03-31/\
                 functions/${Function.Arn}/invocations, with a function of this template",
            )
        })
    }
}

fn part<T>(item: &Item<'_>, it: T) -> Result<Part<T>, TemplateError> {
    let api = item.properties.required("ApiId")?.text()?;
    Ok(Part { api, path: item.properties.path.clone(), mark: item.declaration.mark, it })
}

fn read_api(item: &Item<'_>) -> Result<WebSocketApi, TemplateError> {
    let properties = &item.properties;
    properties.only(&[
        "ApiKeySelectionExpression",
        "Description",
        "DisableExecuteApiEndpoint",
        "IpAddressType",
        "Name",
        "ProtocolType",
        "RouteSelectionExpression",
        "Tags",
    ])?;
    Ok(WebSocketApi {
        logical_id: item.id(),
        id: item.name.clone(),
        selection: selection(&properties.required("RouteSelectionExpression")?)?,
        routes: Vec::new(),
        stages: Vec::new(),
        line: item.line(),
    })
}

fn selection(field: &Field<'_>) -> Result<Vec<String>, TemplateError> {
    let text = field.text()?;
    let plain = text.strip_prefix("$request.body.");
    let braced = || text.strip_prefix("${request.body.")?.strip_suffix('}');
    let path = plain.or_else(braced).unwrap_or_default();
    let is_name = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    };
    let names: Vec<String> = path.split('.').map(str::to_owned).collect();
    if names.iter().all(|name| is_name(name)) {
        return Ok(names);
    }
    Err(field.expected("an expression like $request.body.action"))
}
