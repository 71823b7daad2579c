//! QR codes of short addresses.

use boundary::http::{Answer, Error, Problem, Request, Response};
use domain::links::{Code, Rejected};
use http::{HeaderName, HeaderValue, StatusCode, header};

use crate::State;
use crate::qr::{self, BadStyle, Options, Style, Undrawn};
use crate::state::namespace_of;

/// A code's picture depends on nothing that can change but its link being there.
const CACHEABLE: HeaderValue = HeaderValue::from_static("public, max-age=86400");

/// An SVG is a document of its own when it is opened alone; it needs nothing from anywhere.
const NOTHING_ELSE: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");

pub(crate) async fn draw(state: &State, request: Request) -> Answer {
    let options: Options = request.query()?;
    let style = Style::parse(&options).map_err(unfit)?;
    let file = request.param("file");
    let (name, kind) = file.rsplit_once('.').ok_or(Rejected::UnknownLink)?;
    let code = Code::parse(name).ok_or(Rejected::UnknownLink)?;
    let domain = namespace_of(state, &request)?;
    let link = state.links.find(&domain, &code).await?;
    let link = link.filter(|link| link.deleted_at.is_none()).ok_or(Rejected::UnknownLink)?;
    let address = state.short_url(&link.domain, &link.code, &request);
    let response = match kind {
        "png" => Response::bytes(StatusCode::OK, "image/png", picture(&address, &style)?),
        "svg" => Response::typed(
            StatusCode::OK,
            "image/svg+xml",
            qr::svg(&address, &style).map_err(unfit)?,
        )
        .with_header(header::CONTENT_SECURITY_POLICY, NOTHING_ELSE),
        _ => return Err(Problem::unknown("picture; ask for .png or .svg").into()),
    };
    Ok(response
        .with_header(header::CACHE_CONTROL, CACHEABLE)
        .with_header(HOTLINKED, HeaderValue::from_static("cross-origin")))
}

fn unfit(bad: BadStyle) -> Problem {
    Problem::field(bad.field(), bad)
}

fn picture(address: &str, style: &Style) -> Result<Vec<u8>, Error> {
    qr::png(address, style).map_err(|undrawn| match undrawn {
        Undrawn::Unfit(bad) => unfit(bad).into(),
        Undrawn::Failed(failure) => failure.into(),
    })
}

/// Pictures are shown on other people's pages.
const HOTLINKED: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
