//! The HTTP API: from a request to the event that API Gateway would send, and back.
//!
//! Routes, stage and CORS come from the template. What API Gateway refuses by itself (too large,
//! too slow) is refused here too, as problem+json like everything else.

mod event;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use serde_json::json;
use template::{Cors, RouteKey, Stack};

use crate::functions::Functions;

/// API Gateway's limit for a request's body.
pub const BODY_CAP: usize = 10 * 1024 * 1024;

/// API Gateway's timeout of an integration.
const INTEGRATION_TIMEOUT: Duration = Duration::from_secs(30);

/// The HTTP API of a stack.
#[derive(Debug, Clone)]
pub struct Gateway {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    functions: Functions,
    paths: matchit::Router<Vec<Target>>,
    fallback: Option<Target>,
    cors: Option<Cors>,
    api_id: String,
    stage: String,
}

/// A route and the function behind it.
#[derive(Debug, Clone)]
struct Target {
    method: Option<String>,
    route_key: String,
    function: String,
}

/// The outcome of a request, for the line that is printed about it.
#[derive(Debug)]
pub struct Handled {
    pub response: Response<Bytes>,
    /// The function that answered, if one did.
    pub function: Option<String>,
}

impl Gateway {
    /// The API of `stack`, in front of `functions`.
    pub fn new(stack: &Stack, functions: Functions) -> Result<Self, String> {
        let mut paths: matchit::Router<Vec<Target>> = matchit::Router::new();
        let mut fallback = None;
        for function in &stack.functions {
            for route in &function.routes {
                let target = |method: Option<&String>| Target {
                    method: method.cloned(),
                    route_key: route.key.to_string(),
                    function: function.logical_id.clone(),
                };
                match &route.key {
                    RouteKey::Default => fallback = Some(target(None)),
                    RouteKey::Path { method, path } => {
                        let pattern = router_pattern(path);
                        let target = target(method.as_ref());
                        match paths.at_mut(&pattern) {
                            // The pattern itself is a path that only its own route matches.
                            Ok(found) if found.value[0].route_key.ends_with(path) => {
                                found.value.push(target);
                            }
                            _ => paths
                                .insert(pattern, vec![target])
                                .map_err(|error| format!("route {path}: {error}"))?,
                        }
                    }
                }
            }
        }
        let api = stack.apis.first();
        Ok(Self {
            shared: Arc::new(Shared {
                functions,
                paths,
                fallback,
                cors: api.and_then(|api| api.cors.clone()),
                api_id: api.map_or_else(String::new, |api| api.id.clone()),
                stage: api.map_or_else(|| "$default".to_owned(), |api| api.stage.clone()),
            }),
        })
    }

    /// Answers one request.
    pub async fn handle(&self, request: Request<Bytes>, source: IpAddr, now_ms: i64) -> Handled {
        let origin = request.headers().get(header::ORIGIN).cloned();
        let mut handled = if let Some(preflight) = self.shared.preflight(&request) {
            Handled { response: preflight, function: None }
        } else if request.body().len() > BODY_CAP {
            Handled { response: too_large(request.uri().path()), function: None }
        } else {
            self.shared.route(request, source, now_ms).await
        };
        if let (Some(cors), Some(origin)) = (&self.shared.cors, origin) {
            add_cors_headers(cors, &origin, handled.response.headers_mut());
        }
        handled
    }
}

impl Shared {
    async fn route(&self, request: Request<Bytes>, source: IpAddr, now_ms: i64) -> Handled {
        let path = request.uri().path().to_owned();
        let method = request.method().as_str();
        let found = self.paths.at(&path).ok().and_then(|found| {
            let target = found
                .value
                .iter()
                .find(|target| target.method.as_deref() == Some(method))
                .or_else(|| found.value.iter().find(|target| target.method.is_none()))?;
            let params: Vec<(String, String)> =
                found.params.iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
            Some((target, params))
        });
        let (target, params) = match (found, &self.fallback) {
            (Some(found), _) => found,
            (None, Some(fallback)) => (fallback, Vec::new()),
            (None, None) => {
                return Handled {
                    response: problem(StatusCode::NOT_FOUND, "No such route.", &path),
                    function: None,
                };
            }
        };
        let event = event::from_request(&event::Parts {
            request: &request,
            params: &params,
            route_key: &target.route_key,
            api_id: &self.api_id,
            stage: &self.stage,
            source,
            now_ms,
            request_id: &request_id(),
        });
        let work = self.functions.invoke(&target.function, event);
        let response =
            match tokio::time::timeout(self.functions.timeout(INTEGRATION_TIMEOUT), work).await {
                Ok(Ok(answer)) => event::to_response(&answer)
                    .unwrap_or_else(|error| problem(StatusCode::BAD_GATEWAY, &error, &path)),
                Ok(Err(error)) => problem(StatusCode::INTERNAL_SERVER_ERROR, &error, &path),
                Err(_) => {
                    let detail = "The function took more than 30 seconds.";
                    problem(StatusCode::SERVICE_UNAVAILABLE, detail, &path)
                }
            };
        Handled { response, function: Some(target.function.clone()) }
    }

    /// API Gateway's answer to a CORS preflight.
    fn preflight(&self, request: &Request<Bytes>) -> Option<Response<Bytes>> {
        let cors = self.cors.as_ref()?;
        let asks = request.method() == Method::OPTIONS
            && request.headers().contains_key(header::ORIGIN)
            && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if !asks {
            return None;
        }
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers = response.headers_mut();
        put(headers, header::ACCESS_CONTROL_ALLOW_METHODS, &cors.allow_methods.join(","));
        put(headers, header::ACCESS_CONTROL_ALLOW_HEADERS, &cors.allow_headers.join(","));
        if let Some(seconds) = cors.max_age_seconds {
            put(headers, header::ACCESS_CONTROL_MAX_AGE, &seconds.to_string());
        }
        Some(response)
    }
}

fn add_cors_headers(cors: &Cors, origin: &HeaderValue, headers: &mut http::HeaderMap) {
    let any = cors.allow_origins.iter().any(|allowed| allowed == "*");
    let named = cors.allow_origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes());
    if any {
        put(headers, header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    } else if named {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    } else {
        return;
    }
    if !cors.expose_headers.is_empty() {
        put(headers, header::ACCESS_CONTROL_EXPOSE_HEADERS, &cors.expose_headers.join(","));
    }
}

fn put(headers: &mut http::HeaderMap, name: header::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::try_from(value) {
        headers.insert(name, value);
    }
}

/// 24 hex digits, new for each request; they also end the trace id, which a caller's own replaces.
fn request_id() -> String {
    let mut bytes = [0; 16];
    // Without randomness ids repeat, which only makes two lines of a log harder to tell apart.
    let _ = getrandom::fill(&mut bytes);
    format!("{:032x}", u128::from_be_bytes(bytes)).split_off(8)
}

/// A template path in the router's notation: `{proxy+}` takes the rest.
fn router_pattern(path: &str) -> String {
    match path.strip_suffix("+}").and_then(|start| start.rsplit_once('{')) {
        Some((start, name)) => format!("{start}{{*{name}}}"),
        None => path.to_owned(),
    }
}

/// What is answered to a body over the gateway's limit.
pub(crate) fn too_large(path: &str) -> Response<Bytes> {
    problem(StatusCode::PAYLOAD_TOO_LARGE, "At most 10 MB are accepted.", path)
}

fn problem(status: StatusCode, detail: &str, path: &str) -> Response<Bytes> {
    let body = json!({
        "type": "about:blank",
        "title": status.canonical_reason().unwrap_or("Error"),
        "status": status.as_u16(),
        "detail": detail,
        "instance": path,
    });
    let mut response = Response::new(Bytes::from(body.to_string()));
    *response.status_mut() = status;
    put(response.headers_mut(), header::CONTENT_TYPE, "application/problem+json");
    response
}
