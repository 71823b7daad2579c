//! One kept-alive HTTP/1.1 connection.

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use super::local_cloud::KEY;
use crate::Result;

/// A browser, so that what it follows counts as a person's click.
pub(crate) const AGENT: &str =
    "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0";

/// A connection to one host.
pub(crate) struct Client {
    host: String,
    sender: SendRequest<Full<Bytes>>,
}

impl Client {
    pub(crate) async fn connect(host: &str) -> Result<Self> {
        let stream = TcpStream::connect(host).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { host: host.to_owned(), sender })
    }

    /// Follows a link and says whether it led anywhere.
    pub(crate) async fn follow(&mut self, code: &str) -> Result<bool> {
        let request = Request::get(format!("/{code}"))
            .header(header::HOST, &self.host)
            .header(header::USER_AGENT, AGENT)
            .body(Full::default())?;
        Ok(self.send(request).await?.status() == StatusCode::FOUND)
    }

    /// Calls the API, with the admin key if `with_key`; headers are pairs.
    pub(crate) async fn call(
        &mut self,
        call: (&str, &str),
        headers: &[(&str, &str)],
        body: Option<&Value>,
        with_key: bool,
    ) -> Result<Response<Bytes>> {
        let (method, path) = call;
        let mut request =
            Request::builder().method(method).uri(path).header(header::HOST, &self.host);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if with_key {
            request = request.header(header::AUTHORIZATION, format!("Bearer {KEY}"));
        }
        let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        let answer = self.send(request.body(Full::new(body))?).await?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let text = String::from_utf8_lossy(answer.body());
        Err(format!("{method} {path}: {} {text}", answer.status()).into())
    }

    /// Calls an emulated service of AWS.
    pub(crate) async fn aws(&mut self, target: &str, body: &Value) -> Result<Value> {
        let headers = [("x-amz-target", target), ("content-type", "application/x-amz-json-1.0")];
        let answer = self.call(("POST", "/"), &headers, Some(body), false).await?;
        Ok(serde_json::from_slice(answer.body())?)
    }

    async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Bytes>> {
        self.sender.ready().await?;
        let (parts, body) = self.sender.send_request(request).await?.into_parts();
        Ok(Response::from_parts(parts, body.collect().await?.to_bytes()))
    }
}
