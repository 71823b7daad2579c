//! Holds every answer of every test to the OpenAPI document: an operation answers with no status that the
//! document does not name.

use std::sync::OnceLock;

use http::{Method, StatusCode};
use local::document;
use serde_json::Value;

fn paths() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    &DOCUMENT.get_or_init(document::openapi)["paths"]
}

/// The operation of a request; literal segments of a path win over parameters.
fn operation(method: &Method, path: &str) -> Option<&'static Value> {
    let matches = |pattern: &str| {
        let same = |(part, wanted): (&str, &str)| part == wanted || wanted.starts_with('{');
        pattern.split('/').count() == path.split('/').count()
            && path.split('/').zip(pattern.split('/')).all(same)
    };
    let found = paths().as_object()?.iter().filter(|(pattern, _)| matches(pattern));
    let (_, methods) = found.min_by_key(|(pattern, _)| pattern.matches('{').count())?;
    let method = if method == Method::HEAD { &Method::GET } else { method };
    methods.get(method.as_str().to_lowercase())
}

/// Fails the test whose operation answers with a status that the document lacks.
///
/// # Panics
/// When it does.
pub(crate) fn check(method: &Method, target: &str, status: StatusCode, body: &[u8]) {
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let Some(operation) = operation(method, path) else { return };
    // Before the handler: the firewall's refusal, a body over the cap, a quota; and faults.
    let by_the_edge = matches!(status.as_u16(), 403 | 413 | 429) || status.is_server_error();
    // The function that describes the service answers for a system that is switched off.
    let off = status == 404 && String::from_utf8_lossy(body).contains("is not deployed here");
    let documented = !operation["responses"][status.as_str()].is_null();
    assert!(
        by_the_edge || off || documented,
        "{method} {path} answers {status}, which the document does not say"
    );
}
