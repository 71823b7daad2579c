//! A stub of `DynamoDB` behind TLS: finds any link and nothing else, accepts every write and message,
//! keeps what updates set and add, counts the calls.
//!
//! TLS is most of a cold start, so it is real here: TLS 1.3 with a chain of three certificates, as
//! AWS sends. They are ECDSA where AWS's are RSA, because RSA keys take too long to make; verifying
//! them costs the client more than RSA would, never less.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Collected, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Map, Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::Result;

/// How the key of a link's row begins.
const LINK_KEY: &[u8] = br#""link#"#;

/// A link's row, as far as a redirect reads it.
const LINK: &str = r#""Item":{"to":{"S":"https://example.org/a/page/somewhere"},"created_at":{"N":"1772366400000"}},"#;

/// The stub's identity: made once, used by every run.
pub(crate) struct Store {
    acceptor: TlsAcceptor,
    /// The root certificate to trust, as PEM.
    pub(crate) root: String,
}

impl Store {
    pub(crate) fn new() -> Result<Self> {
        let (root, root_key) = (authority("Bench Root"), KeyPair::generate()?);
        let root_pem = root.self_signed(&root_key)?.pem();
        let (middle, middle_key) = (authority("Bench Intermediate"), KeyPair::generate()?);
        let middle_der = middle.signed_by(&middle_key, &Issuer::new(root, root_key))?.der().clone();
        let leaf_key = KeyPair::generate()?;
        let leaf = CertificateParams::new(vec!["localhost".to_owned()])?;
        let leaf_der = leaf.signed_by(&leaf_key, &Issuer::new(middle, middle_key))?.der().clone();
        let key = PrivateKeyDer::Pkcs8(leaf_key.serialize_der().into());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![leaf_der, middle_der], key)?;
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), root: root_pem })
    }

    /// Accepts connections until it is dropped, adding each call to `calls`.
    pub(crate) async fn serve(&self, listener: TcpListener, calls: Rc<Cell<u64>>) {
        let rows = Rc::default();
        while let Ok((stream, _)) = listener.accept().await {
            let (calls, rows) = (Rc::clone(&calls), Rc::clone(&rows));
            tokio::task::spawn_local(connection(self.acceptor.clone(), stream, calls, rows));
        }
    }
}

/// What updates have left, by key.
type Rows = RefCell<HashMap<String, Map<String, Value>>>;

async fn connection(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    calls: Rc<Cell<u64>>,
    rows: Rc<Rows>,
) {
    // A handshake that fails is the client's to report: its answer will not be a good one.
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let service = service_fn(|request| answer(request, &calls, &rows));
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(
    request: http::Request<Incoming>,
    calls: &Cell<u64>,
    rows: &Rows,
) -> Result<http::Response<Full<Bytes>>, Infallible> {
    let target = request.headers().get("x-amz-target").and_then(|target| target.to_str().ok());
    let units = match target.and_then(|target| target.rsplit('.').next()) {
        Some("GetItem") => "0.5",
        _ => "1.0",
    };
    let asked = request.into_body().collect().await.map(Collected::to_bytes).unwrap_or_default();
    let is_link = asked.windows(LINK_KEY.len()).any(|window| window == LINK_KEY);
    let item = if is_link { LINK.to_owned() } else { updated(&asked, rows).unwrap_or_default() };
    calls.set(calls.get() + 1);
    let body =
        format!(r#"{{{item}"ConsumedCapacity":{{"CapacityUnits":{units},"TableName":"table"}}}}"#);
    let mut response = http::Response::new(Full::new(Bytes::from(body)));
    for (name, value) in [
        ("content-type", "application/x-amz-json-1.0"),
        ("x-amzn-requestid", "JQ4MUCAM5CDQ3DKCEOJ3L4OG5RVV4KQNSO5AEMVJF66Q9ASUAAJG"),
    ] {
        response.headers_mut().insert(name, http::HeaderValue::from_static(value));
    }
    Ok(response)
}

/// The row that an update leaves, as far as it sets or adds plain values.
fn updated(asked: &[u8], rows: &Rows) -> Option<String> {
    let asked: Value = serde_json::from_slice(asked).ok()?;
    let (names, values) = (&asked["ExpressionAttributeNames"], &asked["ExpressionAttributeValues"]);
    let update = asked["UpdateExpression"].as_str()?;
    let mut rows = rows.borrow_mut();
    let row = rows.entry(asked["Key"]["pk"]["S"].as_str()?.to_owned()).or_default();
    let (set, add) = update.split_once(" ADD ").unwrap_or((update, ""));
    for (part, adds) in [(set.trim_start_matches("SET "), false), (add, true)] {
        for change in part.split(", ") {
            let mut words = change.split([' ', '=']).filter(|word| !word.is_empty());
            let (Some(name), Some(value)) = (words.next(), words.next()) else { continue };
            let name = names[name].as_str().unwrap_or(name).to_owned();
            let number = |value: &Value| value["N"].as_str()?.parse::<i64>().ok();
            let was = row.get(&name).and_then(number).filter(|_| adds).unwrap_or(0);
            let value = &values[value];
            let left = number(value).map(|more| json!({ "N": (was + more).to_string() }));
            row.insert(name, left.unwrap_or_else(|| value.clone()));
        }
    }
    Some(format!(r#""Attributes":{},"#, Value::Object(row.clone())))
}

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}
