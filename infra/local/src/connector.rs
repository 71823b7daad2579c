//! The SDK's HTTP client without a socket: requests go straight to the [`Services`], and a test's
//! faults stand in between.

use std::sync::Arc;

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use http::{HeaderValue, Request, Response, header};
use http_body_util::BodyExt;

use crate::faults::{Faults, ServiceCall};
use crate::policy::{Permission, RolePolicy};
use crate::services::{ConnectionDropped, Services, operation_of, service_of};

/// What the SDK calls instead of the network.
#[derive(Debug, Clone)]
pub struct Connector {
    services: Services,
    faults: Arc<Faults>,
    policy: Option<RolePolicy>,
}

impl Connector {
    /// A client whose requests reach `services`, as far as `policy` and `faults` let them.
    pub fn client(
        services: Services,
        faults: Arc<Faults>,
        policy: Option<RolePolicy>,
    ) -> SharedHttpClient {
        SharedHttpClient::new(Self { services, faults, policy })
    }

    async fn answer(self, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
        let request =
            request.try_into_http1x().map_err(|error| ConnectorError::user(error.into()))?;
        let (parts, body) = request.into_parts();
        let body: Bytes = body.collect().await.map_err(ConnectorError::io)?.to_bytes();
        let mut request = Request::from_parts(parts, body);
        name_host(&mut request);
        if let Some(denied) = self.policy.as_ref().and_then(|policy| policy.first_denied(&request))
        {
            return access_denied(&denied).map(SdkBody::from).try_into().map_err(user);
        }
        let request = self.faults.mutated_request(request);
        let call = ServiceCall {
            service: service_of(&request),
            operation: operation_of(&request).to_owned(),
            body: request.body().clone(),
        };
        let services = &self.services;
        let answered =
            self.faults.intercept(&call, || async move { services.handle(request).await }).await;
        let answered = answered?;
        if answered.extensions().get::<ConnectionDropped>().is_some() {
            return Err(ConnectorError::io("the line was cut".into()));
        }
        let response = answered.map(SdkBody::from);
        HttpResponse::try_from(response).map_err(user)
    }
}

/// What a client with a socket adds, and S3 checks the signature of.
fn name_host(request: &mut Request<Bytes>) {
    let host = request.uri().authority().map(|host| HeaderValue::try_from(host.as_str()));
    if let Some(Ok(host)) = host {
        request.headers_mut().entry(header::HOST).or_insert(host);
    }
}

fn user(error: impl Into<BoxError>) -> ConnectorError {
    ConnectorError::user(error.into())
}

fn access_denied(denied: &Permission) -> Response<Bytes> {
    let body = serde_json::json!({
        "__type": "com.amazonaws#AccessDeniedException",
        "message": format!(
            "the function's policy in template.yaml does not allow {} on {}",
            denied.action, denied.resource
        ),
    });
    let mut response = Response::new(Bytes::from(body.to_string()));
    *response.status_mut() = http::StatusCode::BAD_REQUEST;
    response
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        HttpConnectorFuture::new(self.clone().answer(request))
    }
}

impl HttpClient for Connector {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}
