//! `POST /api/v1/ids` gives out ids; `GET /api/v1/ids/{id}` says what one is made of.
//!
//! Trigger: HTTP. Effect: one conditional write each five minutes of activity, to lease a lane.
//! Guarantee: no id is given out twice, by any node, ever; each node's ids only grow.

use std::sync::Arc;

use boundary::http::{
    Api, Json, Operation, Operations, Path, Problem, Query, Result, Segment, State,
};
use boundary::ids::IdSource;
use boundary::{Host, Misconfigured};
use domain::ids::Id;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ids asked for at once.
const MAX_COUNT: usize = 10_000;

/// What the handlers share.
#[derive(Debug)]
pub struct App {
    ids: IdSource,
}

/// The function on `host`.
pub fn function(host: &Host) -> Result<Api, Misconfigured> {
    Api::new(host, App { ids: IdSource::from_host(host)? }, operations)
}

/// What it answers.
pub fn operations(to: &mut impl Operations<App>) {
    to.on(MAKE, make);
    to.on(READ, read);
}

/// The path is an id.
struct IdPath;

impl Segment for IdPath {
    type Value = Id;
    const NAME: &'static str = "id";
    const MEANING: &'static str = "An id, decimal or in its 11-character form.";

    fn parse(text: &str) -> Result<Id> {
        Id::parse(text).map_err(|_| Problem::field("id", "a decimal id or its 11-character form"))
    }
}

/// How many ids, and how they are written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct IdsQuery {
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
enum Format {
    /// Up to 19 digits.
    #[default]
    Decimal,
    /// 11 digits and letters that sort like the numbers.
    Base62,
}

/// Ids in ascending order, as strings: JavaScript's numbers can't hold 64 bits.
#[derive(Debug, Serialize, JsonSchema)]
struct IdsView {
    ids: Vec<String>,
}

const MAKE: Operation = Operation::post("/api/v1/ids", "makeIds", "Make ids")
    .description(
        "Ids come in ascending order. A node leases a range of time with one conditional write and gives out up \
         to 4,096 ids a millisecond from it.",
    )
    .key()
    .refuses(&[503]);

async fn make(State(app): State<Arc<App>>, Query(query): Query<IdsQuery>) -> Result<Json<IdsView>> {
    if !(1..=MAX_COUNT).contains(&query.count) {
        return Err(Problem::field("count", format!("a number from 1 to {MAX_COUNT}")));
    }
    let ids = app.ids.take(query.count).await?;
    let render = match query.format {
        Format::Decimal => |id: &Id| id.to_string(),
        Format::Base62 => |id: &Id| id.to_base62(),
    };
    Ok(Json(IdsView { ids: ids.iter().map(render).collect() }))
}

/// What an id says about itself.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct IdView {
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

const READ: Operation =
    Operation::get("/api/v1/ids/{id}", "readId", "Read an id").key().refuses(&[422]);

async fn read(Path(id): Path<IdPath>) -> Result<Json<IdView>> {
    let parts = id.parts();
    let time = i64::try_from(parts.unix_ms)
        .ok()
        .and_then(|ms| domain::Timestamp::from_millisecond(ms).ok())
        .ok_or_else(|| Problem::field("id", "an id of this era"))?;
    Ok(Json(IdView {
        id: id.to_string(),
        base62: id.to_base62(),
        time: time.to_string(),
        unix_ms: parts.unix_ms,
        datacenter: parts.datacenter,
        machine: parts.machine,
        sequence: parts.sequence,
    }))
}
