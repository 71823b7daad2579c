//! `POST /api/v1/ids` gives out ids; `GET /api/v1/ids/{id}` says what one is made of.
//!
//! Trigger: HTTP. Effect: one conditional write each five minutes of activity, to lease a lane.
//! Guarantee: no id is given out twice, by any node, ever; each node's ids only grow.

pub mod docs;

use boundary::http::{Access, Answer, Api, Builder, Problem, Request, Response};
use boundary::ids::IdSource;
use boundary::{Host, Misconfigured};
use domain::ids::Id;
use http::{Method, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ids asked for at once.
const MOST: usize = 10_000;

/// What the handlers share.
#[derive(Debug)]
pub struct State {
    ids: IdSource,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Api<State>, Misconfigured> {
    Builder::default()
        .on(Method::POST, "/api/v1/ids", "makeIds", Access::Key, |s, r| Box::pin(make(s, r)))
        .on(Method::GET, "/api/v1/ids/{id}", "readId", Access::Key, |s, r| Box::pin(read(s, r)))
        .build(host, State { ids: IdSource::on(host)? })
}

/// How many ids, and how they are written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// How many ids, 1 to 10,000; 1 if left out.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000))]
    count: usize,
    /// How they are written; decimal if left out.
    #[serde(default)]
    format: Format,
}

const fn one() -> usize {
    1
}

/// How an id is written.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Up to 19 digits.
    #[default]
    Decimal,
    /// 11 digits and letters that sort like the numbers.
    Base62,
}

/// Ids in ascending order, as strings: JavaScript's numbers can't hold 64 bits.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ids {
    ids: Vec<String>,
}

async fn make(state: &State, request: Request) -> Answer {
    let wanted: Wanted = request.query()?;
    if !(1..=MOST).contains(&wanted.count) {
        return Err(Problem::field("count", format!("a number from 1 to {MOST}")).into());
    }
    let ids = state.ids.take(wanted.count).await?;
    let render = match wanted.format {
        Format::Decimal => |id: &Id| id.to_string(),
        Format::Base62 => |id: &Id| id.to_base62(),
    };
    Ok(Response::json(StatusCode::OK, &Ids { ids: ids.iter().map(render).collect() }))
}

/// What an id says about itself.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Anatomy {
    /// The id in decimal.
    id: String,
    /// The id in 11 sortable characters.
    base62: String,
    /// When it was made, to the millisecond.
    time: String,
    /// The same in milliseconds since 1970.
    unix_ms: u64,
    /// The upper half of the leased slot.
    datacenter: u8,
    /// The lower half of the leased slot.
    machine: u8,
    /// Its place within its millisecond.
    sequence: u16,
}

async fn read(_: &State, request: Request) -> Answer {
    let id = Id::parse(request.param("id"))
        .map_err(|_| Problem::field("id", "a decimal id or its 11-character form"))?;
    let parts = id.parts();
    let time = i64::try_from(parts.unix_ms)
        .ok()
        .and_then(|ms| domain::Timestamp::from_millisecond(ms).ok())
        .ok_or_else(|| Problem::field("id", "an id of this era"))?;
    let anatomy = Anatomy {
        id: id.to_string(),
        base62: id.to_base62(),
        time: time.to_string(),
        unix_ms: parts.unix_ms,
        datacenter: parts.datacenter,
        machine: parts.machine,
        sequence: parts.sequence,
    };
    Ok(Response::json(StatusCode::OK, &anatomy))
}
