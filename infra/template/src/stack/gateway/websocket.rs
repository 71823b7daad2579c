//! Reads WebSocket APIs, and finds the functions that their routes lead to.

use crate::Function;
use crate::error::Result;
use crate::field::Field;
use crate::stack::build::Item;
use crate::stack::gateway::{Integration, Part, Parts};
use crate::vocabulary::gateway as vocabulary;

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
    pub routes: Vec<WebSocketRoute>,
    /// Its stages; the path of each is where clients connect.
    pub stages: Vec<String>,
    /// The line of its key.
    pub line: usize,
}

/// A route of a WebSocket API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebSocketRoute {
    /// `$connect`, `$disconnect`, `$default`, or what a message says.
    pub key: String,
    /// The logical id of the function it leads to.
    pub function: String,
    /// The line of its key.
    pub line: usize,
}

impl WebSocketApi {
    /// The route with that key.
    pub fn route(&self, key: &str) -> Option<&WebSocketRoute> {
        self.routes.iter().find(|route| route.key == key)
    }
}

/// The APIs, with everything that names them.
pub(crate) fn assemble(parts: &Parts, functions: &[&Function]) -> Result<Vec<WebSocketApi>> {
    let mut apis: Vec<_> = parts.sockets.iter().map(|part| part.value.clone()).collect();
    for api in &mut apis {
        for stage in parts.stages_of(&api.id) {
            stage.check()?;
            api.stages.push(stage.value.name.clone());
        }
        for route in parts.routes_of(&api.id) {
            let key = &route.value.key;
            if api.route(key).is_some() {
                return Err(route.error(format!("the API has a route `{key}` already")));
            }
            if route.has("RouteResponseSelectionExpression") {
                let reason = "route responses are not understood; post to the connection";
                return Err(route.error(reason));
            }
            let function = parts.target(route)?.check_socket(functions)?.logical_id.clone();
            let (key, line) = (key.clone(), route.mark.line);
            api.routes.push(WebSocketRoute { key, function, line });
        }
    }
    Ok(apis)
}

impl Part<Integration> {
    /// The function that messages are passed to.
    fn check_socket<'a>(&self, functions: &[&'a Function]) -> Result<&'a Function> {
        self.check_kind()?;
        self.invoked(functions).ok_or_else(|| {
            self.error(
                "`IntegrationUri` must be arn:aws:apigateway:${AWS::Region}:lambda:path/2015-03-31/\
                 functions/${Function.Arn}/invocations, with a function of this template",
            )
        })
    }
}

pub(crate) fn read(item: &Item<'_>) -> Result<WebSocketApi> {
    let properties = &item.properties;
    properties.only(vocabulary::SOCKET_API)?;
    Ok(WebSocketApi {
        logical_id: item.id(),
        id: item.name.clone(),
        selection: selection(&properties.required("RouteSelectionExpression")?)?,
        routes: Vec::new(),
        stages: Vec::new(),
        line: item.line(),
    })
}

fn selection(field: &Field<'_>) -> Result<Vec<String>> {
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
