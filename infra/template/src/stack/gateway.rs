//! Reads API Gateway's own APIs: `AWS::ApiGatewayV2::Api`, `Route`, `Integration` and `Stage`.
//!
//! CloudFormation writes an API as four kinds of resources that name each other, in any order and
//! from any template. They are gathered while the templates are read and put together at the end,
//! so that it is known which function each route leads to. What the local cloud could not do as API
//! Gateway does it is refused with its line.

pub(crate) mod http;
pub(crate) mod websocket;

use std::path::{Path, PathBuf};

use crate::error::{Mark, Result, TemplateError};
use crate::stack::api::{self, Throttling};
use crate::stack::build::Item;
use crate::vocabulary::gateway as vocabulary;
use crate::{Function, HttpApi, WebSocketApi};

/// What was gathered so far.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// The template that is being read.
    file: PathBuf,
    http: Vec<Part<HttpApi>>,
    sockets: Vec<Part<WebSocketApi>>,
    routes: Vec<Part<Route>>,
    integrations: Vec<Part<Integration>>,
    stages: Vec<Part<Stage>>,
}

/// A resource that belongs to an API, and where it is written.
#[derive(Debug)]
struct Part<T> {
    id: String,
    api: String,
    file: PathBuf,
    path: String,
    mark: Mark,
    /// The names of the properties it has.
    has: Vec<String>,
    value: T,
}

#[derive(Debug)]
struct Route {
    key: String,
    target: Option<String>,
    authorization: Option<String>,
}

#[derive(Debug)]
struct Integration {
    /// What `integrations/` in a route's target is followed by.
    name: String,
    kind: String,
    uri: Option<String>,
    method: Option<String>,
    payload: Option<String>,
}

#[derive(Debug)]
struct Stage {
    name: String,
    automatic: bool,
    throttling: Throttling,
}

impl Parts {
    /// Nothing yet of the template in `file`.
    pub(crate) fn of(file: &Path) -> Self {
        Self { file: file.to_owned(), ..Self::default() }
    }

    /// Takes a resource, if it is one of these.
    pub(crate) fn add(&mut self, item: &Item<'_>) -> Result {
        let properties = &item.properties;
        match item.declaration.kind.as_str() {
            "AWS::ApiGatewayV2::Api" => match api::protocol(item)? {
                api::Protocol::Http => {
                    let api = api::read_http(item)?;
                    self.http.push(self.part(item, api.id.clone(), api)?);
                }
                api::Protocol::WebSocket => {
                    let api = websocket::read(item)?;
                    self.sockets.push(self.part(item, api.id.clone(), api)?);
                }
            },
            "AWS::ApiGatewayV2::Route" => {
                properties.only(vocabulary::ROUTE)?;
                let route = Route {
                    key: properties.required("RouteKey")?.text()?,
                    target: properties.text_at("Target")?,
                    authorization: properties.text_at("AuthorizationType")?,
                };
                self.routes.push(self.part(item, properties.required("ApiId")?.text()?, route)?);
            }
            "AWS::ApiGatewayV2::Integration" => {
                properties.only(vocabulary::INTEGRATION)?;
                let integration = Integration {
                    name: item.name.clone(),
                    kind: properties.required("IntegrationType")?.text()?,
                    uri: properties.text_at("IntegrationUri")?,
                    method: properties.text_at("IntegrationMethod")?,
                    payload: properties.text_at("PayloadFormatVersion")?,
                };
                let api = properties.required("ApiId")?.text()?;
                self.integrations.push(self.part(item, api, integration)?);
            }
            "AWS::ApiGatewayV2::Stage" => {
                properties.only(vocabulary::STAGE)?;
                let stage = Stage {
                    name: properties.required("StageName")?.text()?,
                    automatic: properties.flag_at("AutoDeploy")?.unwrap_or(false),
                    throttling: api::throttling(properties)?,
                };
                self.stages.push(self.part(item, properties.required("ApiId")?.text()?, stage)?);
            }
            _ => {}
        }
        Ok(())
    }

    fn part<T>(&self, item: &Item<'_>, api: String, value: T) -> Result<Part<T>> {
        let has = item.properties.entries()?.iter().map(|(key, _)| (*key).to_owned()).collect();
        Ok(Part {
            id: item.id(),
            api,
            file: self.file.clone(),
            path: item.properties.path.clone(),
            mark: item.declaration.mark,
            has,
            value,
        })
    }

    /// Takes what a nested template has.
    pub(crate) fn append(&mut self, nested: Self) {
        self.http.extend(nested.http);
        self.sockets.extend(nested.sockets);
        self.routes.extend(nested.routes);
        self.integrations.extend(nested.integrations);
        self.stages.extend(nested.stages);
    }

    /// Refuses what names an API that is not here: it would silently be missing.
    pub(crate) fn check_apis(&self) -> Result {
        self.routes.iter().try_for_each(|route| self.check_api(route))?;
        self.integrations.iter().try_for_each(|integration| self.check_api(integration))?;
        self.stages.iter().try_for_each(|stage| self.check_api(stage))
    }

    fn check_api<T>(&self, part: &Part<T>) -> Result {
        let http = self.http.iter().map(|api| &api.api);
        let sockets = self.sockets.iter().map(|api| &api.api);
        if http.chain(sockets).any(|api| *api == part.api) {
            return Ok(());
        }
        let reason = format!("`ApiId` must be an AWS::ApiGatewayV2::Api, found `{}`", part.api);
        Err(part.error(reason))
    }

    fn routes_of(&self, api: &str) -> impl Iterator<Item = &Part<Route>> {
        self.routes.iter().filter(move |route| route.api == api)
    }

    fn integrations_of(&self, api: &str) -> impl Iterator<Item = &Part<Integration>> {
        self.integrations.iter().filter(move |integration| integration.api == api)
    }

    fn stages_of(&self, api: &str) -> impl Iterator<Item = &Part<Stage>> {
        self.stages.iter().filter(move |stage| stage.api == api)
    }

    /// The integration that a route leads to.
    fn target(&self, route: &Part<Route>) -> Result<&Part<Integration>> {
        let kind = route.value.authorization.as_deref();
        if kind.is_some_and(|kind| kind != "NONE") || route.has("AuthorizerId") {
            let reason = "authorizers are not understood; use `AuthorizationType: NONE`";
            return Err(route.error(reason));
        }
        let target = route.value.target.as_deref();
        let name = target.and_then(|target| target.strip_prefix("integrations/"));
        let mut integrations = self.integrations_of(&route.api);
        integrations.find(|integration| Some(integration.value.name.as_str()) == name).ok_or_else(
            || route.error("`Target` must be `integrations/` and an integration of the same API"),
        )
    }
}

impl<T> Part<T> {
    fn error(&self, reason: impl Into<String>) -> TemplateError {
        TemplateError::new(self.mark, &self.path, reason).in_file(&self.file)
    }

    fn has(&self, property: &str) -> bool {
        self.has.iter().any(|has| has == property)
    }
}

impl Part<Stage> {
    fn check(&self) -> Result {
        if self.value.automatic || self.has("DeploymentId") {
            return Ok(());
        }
        Err(self.error("a stage serves nothing without `AutoDeploy: true` or a DeploymentId"))
    }
}

impl Part<Integration> {
    fn check_kind(&self) -> Result {
        let kind = &self.value.kind;
        if kind == "AWS_PROXY" {
            return Ok(());
        }
        let reason = format!("only integrations of type AWS_PROXY are understood, not {kind}");
        Err(self.error(reason))
    }

    /// The function that a URI of API Gateway's own form invokes.
    fn invoked<'a>(&self, functions: &[&'a Function]) -> Option<&'a Function> {
        let arn = self
            .value
            .uri
            .as_deref()?
            .split_once(":lambda:path/2015-03-31/functions/")
            .filter(|(start, _)| start.starts_with("arn:aws:apigateway:"))
            .and_then(|(_, rest)| rest.strip_suffix("/invocations"))?;
        functions.iter().copied().find(|function| function.arn == arn)
    }
}
