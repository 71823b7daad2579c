//! `/docs`: the OpenAPI document for people, with search, samples and requests that can be tried.
//!
//! The browser renders it. The renderer comes with a crate, is served from here, and may talk to nothing else.

use axum::response::{IntoResponse, Response};
use boundary::http::{Operation, Path, Problem, Result, Segment};
use http::header;

use super::document::CACHE_CONTROL_VALUE;

const PAGE: &str = include_str!("docs/page.html");
const START_SCRIPT: &str = include_str!("docs/start.js");
const SCALAR_SCRIPT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/scalar.js.gz"));

/// Scripts, requests and pictures are the page's own; the renderer writes styles into its elements.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; \
                      worker-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'";

pub(super) const DOCS: Operation =
    Operation::get("/docs", "readDocs", "This document as a page").media(&["text/html"]);

pub(super) async fn docs() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, CACHE_CONTROL_VALUE),
        (header::CONTENT_SECURITY_POLICY, CSP),
    ];
    (headers, PAGE).into_response()
}

pub(super) enum File {
    Start,
    Scalar,
}

impl Segment for File {
    type Value = Self;
    const NAME: &'static str = "file";
    const MEANING: &'static str = "A script of the page.";

    fn parse(text: &str) -> Result<Self> {
        match text {
            "start.js" => Ok(Self::Start),
            "scalar.js" => Ok(Self::Scalar),
            _ => Err(Problem::unknown("file")),
        }
    }
}

pub(super) const FILE: Operation =
    Operation::get("/docs/{file}", "readDocsFile", "A script of the page")
        .media(&["text/javascript"])
        .refuses(&[404]);

pub(super) async fn file(Path(file): Path<File>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, CACHE_CONTROL_VALUE),
    ];
    match file {
        File::Start => (headers, START_SCRIPT).into_response(),
        // Every browser takes gzip; nothing else has a use for it.
        File::Scalar => {
            (headers, [(header::CONTENT_ENCODING, "gzip")], SCALAR_SCRIPT).into_response()
        }
    }
}
