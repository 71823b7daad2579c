//! QR codes of short addresses.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use boundary::http::{Operation, Path, Problem, Query, State, Text};
use domain::links::{Code, Rejected};
use http::{HeaderName, HeaderValue, header};

use crate::http::FilePath;
use crate::http::qr::{self, BadStyle, Options, Style, Undrawn};
use crate::http::request::Request;
use crate::http::state::App;

/// A code's picture depends on nothing that can change but its link being there.
const CACHEABLE: HeaderValue = HeaderValue::from_static("public, max-age=86400");

/// An SVG is a document of its own when it is opened alone; it needs nothing from anywhere.
const NOTHING_ELSE: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");

/// Pictures are shown on other people's pages.
const HOTLINKED: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

pub(super) const DRAW: Operation = Operation::get("/qr/{file}", "drawQr", "Draw a QR code")
    .description("`abc.png` or `abc.svg`; cacheable for a day.")
    .media(&["image/png", "image/svg+xml"])
    .refuses(&[404]);

pub(super) async fn draw(
    State(app): State<Arc<App>>,
    request: Request,
    Query(options): Query<Options>,
    Path(file): Path<FilePath>,
) -> Result<Response, Problem> {
    let style = Style::parse(&options).map_err(unfit)?;
    let (name, kind) = file.rsplit_once('.').ok_or(Rejected::UnknownLink)?;
    let code = Code::parse(name).ok_or(Rejected::UnknownLink)?;
    let domain = app.namespace(options.domain.as_deref(), &request)?;
    let link = app.links.find(&domain, &code).await?;
    let link = link.filter(|link| link.deleted_at.is_none()).ok_or(Rejected::UnknownLink)?;
    let address = app.short_url(&link.domain, &link.code, &request);
    let picture = match kind {
        "png" => png(&address, &style)?,
        "svg" => svg(&address, &style)?,
        _ => return Err(Problem::unknown("picture; ask for .png or .svg")),
    };
    let shown = HeaderValue::from_static("cross-origin");
    Ok(([(header::CACHE_CONTROL, CACHEABLE), (HOTLINKED, shown)], picture).into_response())
}

fn png(address: &str, style: &Style) -> Result<Response, Problem> {
    let picture = qr::png(address, style).map_err(|undrawn| match undrawn {
        Undrawn::Unfit(bad) => unfit(bad),
        Undrawn::Failed(failure) => failure.into(),
    })?;
    Ok(([(header::CONTENT_TYPE, "image/png")], picture).into_response())
}

fn svg(address: &str, style: &Style) -> Result<Response, Problem> {
    let picture = Text("image/svg+xml", qr::svg(address, style).map_err(unfit)?);
    Ok(([(header::CONTENT_SECURITY_POLICY, NOTHING_ELSE)], picture).into_response())
}

fn unfit(bad: BadStyle) -> Problem {
    Problem::field(bad.field(), bad)
}
