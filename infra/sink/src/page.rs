//! The page.
use bytes::Bytes;
use http::{Request, Response};

use crate::sink::Desk;

/// Where it is.
pub const AT: &str = "/_sink";

pub(crate) fn respond_at(_desk: &Desk, _request: &Request<Bytes>) -> Response<Bytes> {
    Response::new(Bytes::new())
}
