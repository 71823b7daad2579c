//! The SDK's HTTP client without a socket: requests go straight to the [`Services`], and a test's
//! faults stand in between.

use std::sync::Arc;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt;

use crate::faults::{Call, Faults};
use crate::services::{Services, operation_of, service_of};

/// What the SDK calls instead of the network.
#[derive(Debug, Clone)]
pub struct Connector {
    services: Services,
    faults: Arc<Faults>,
}

impl Connector {
    /// A client whose requests reach `services`, as far as `faults` let them.
    pub fn client(services: Services, faults: Arc<Faults>) -> SharedHttpClient {
        SharedHttpClient::new(Self { services, faults })
    }

    async fn answer(self, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
        let request =
            request.try_into_http1x().map_err(|error| ConnectorError::user(error.into()))?;
        let (parts, body) = request.into_parts();
        let body: Bytes =
            body.collect().await.map_err(|error| ConnectorError::io(error))?.to_bytes();
        let request = Request::from_parts(parts, body);
        let call = Call {
            service: service_of(&request),
            operation: operation_of(&request).to_owned(),
            body: request.body().clone(),
        };
        let services = &self.services;
        let answered =
            self.faults.around(&call, || async move { services.handle(request).await }).await;
        let response = answered?.map(SdkBody::from);
        HttpResponse::try_from(response).map_err(|error| ConnectorError::user(error.into()))
    }
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
