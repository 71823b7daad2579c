//! QR codes of short addresses.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use boundary::http::{Operation, Path, Problem, Query, Result, State, Text};
use domain::links::Code;
use http::{HeaderName, HeaderValue, header};

use crate::http::FilePath;
use crate::http::qr::{self, DrawError, InvalidStyle, QrOptions, QrStyle};
use crate::http::request::Request;
use crate::http::state::App;

/// A picture depends on the link's code and domain alone.
const CACHEABLE: HeaderValue = HeaderValue::from_static("public, max-age=86400");

/// An SVG that is opened by itself is a document; it may load nothing.
const NOTHING_ELSE: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");

/// Pictures are embedded in other sites' pages.
const HOTLINKED: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

pub(super) const DRAW: Operation = Operation::get("/qr/{file}", "drawQr", "Draw a QR code")
    .description("`abc.png` or `abc.svg`; cacheable for a day.")
    .media(&["image/png", "image/svg+xml"])
    .refuses(&[404]);

pub(super) async fn draw(
    State(app): State<Arc<App>>,
    request: Request,
    Query(options): Query<QrOptions>,
    Path(file): Path<FilePath>,
) -> Result<Response> {
    let style = QrStyle::parse(&options).map_err(invalid_style)?;
    let (name, format) = file.rsplit_once('.').ok_or_else(|| Problem::unknown("link"))?;
    let code = Code::parse(name).ok_or_else(|| Problem::unknown("link"))?;
    let domain = app.namespace(options.domain.as_deref(), &request)?;
    let link = app.links.find(&domain, &code).await?;
    let link =
        link.filter(|link| link.deleted_at.is_none()).ok_or_else(|| Problem::unknown("link"))?;
    let address = app.short_url(&link.domain, &link.code, &request);
    let picture = match format {
        "png" => png(&address, &style)?,
        "svg" => svg(&address, &style)?,
        _ => return Err(Problem::unknown("picture; ask for .png or .svg")),
    };
    let shown = HeaderValue::from_static("cross-origin");
    Ok(([(header::CACHE_CONTROL, CACHEABLE), (HOTLINKED, shown)], picture).into_response())
}

fn png(address: &str, style: &QrStyle) -> Result<Response> {
    let picture = qr::png(address, style).map_err(|error| match error {
        DrawError::Style(style) => invalid_style(style),
        DrawError::Failed(failure) => failure.into(),
    })?;
    Ok(([(header::CONTENT_TYPE, "image/png")], picture).into_response())
}

fn svg(address: &str, style: &QrStyle) -> Result<Response> {
    let picture = Text("image/svg+xml", qr::svg(address, style).map_err(invalid_style)?);
    Ok(([(header::CONTENT_SECURITY_POLICY, NOTHING_ELSE)], picture).into_response())
}

fn invalid_style(style: InvalidStyle) -> Problem {
    Problem::field(style.field(), style)
}
