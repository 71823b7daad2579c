//! DynamoDB: dynoxide behind the wire format that the SDK speaks.

mod client_request_tokens;

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use dynoxide::Database;
use http::{Response, StatusCode};
use serde_json::{Value, json};
use template::{AttributeType, Projection, Table};

pub(crate) use client_request_tokens::ClientRequestTokens;

/// Answers one request: the operation named in `X-Amz-Target`, and its JSON.
///
/// Each operation is read with dynoxide's own types, so everything the emulator supports is here
/// and what it does not is an `UnknownOperationException`.
macro_rules! operations {
    ($($operation:literal => $method:ident),* $(,)?) => {
        fn dispatch(db: &Database, operation: &str, body: &[u8]) -> Result<String, (StatusCode, String)> {
            match operation {
                $($operation => {
                    let request = serde_json::from_slice(body).map_err(|error| serialization_error(&error))?;
                    let answer = db.$method(request).map_err(|error| {
                        let status = StatusCode::from_u16(error.status_code());
                        (status.unwrap_or(StatusCode::BAD_REQUEST), error.to_json())
                    })?;
                    serde_json::to_string(&answer).map_err(|error| serialization_error(&error))
                })*
                unknown => Err((StatusCode::BAD_REQUEST, json!({
                    "__type": "com.amazon.coral.service#UnknownOperationException",
                    "message": format!("{unknown} is not part of the local cloud"),
                }).to_string())),
            }
        }
    };
}

operations! {
    "BatchGetItem" => batch_get_item,
    "BatchWriteItem" => batch_write_item,
    "CreateTable" => create_table,
    "DeleteItem" => delete_item,
    "DeleteTable" => delete_table,
    "DescribeStream" => describe_stream,
    "DescribeTable" => describe_table,
    "DescribeTimeToLive" => describe_time_to_live,
    "ExecuteStatement" => execute_statement,
    "GetItem" => get_item,
    "GetRecords" => get_records,
    "GetShardIterator" => get_shard_iterator,
    "ListStreams" => list_streams,
    "ListTables" => list_tables,
    "PutItem" => put_item,
    "Query" => query,
    "Scan" => scan,
    "TransactGetItems" => transact_get_items,
    "TransactWriteItems" => transact_write_items,
    "UpdateItem" => update_item,
    "UpdateTable" => update_table,
    "UpdateTimeToLive" => update_time_to_live,
}

fn serialization_error(error: &serde_json::Error) -> (StatusCode, String) {
    let body = json!({
        "__type": "com.amazon.coral.service#SerializationException", "Message": error.to_string(),
    });
    (StatusCode::BAD_REQUEST, body.to_string())
}

pub(crate) fn handle(db: &Database, operation: &str, body: &[u8]) -> Response<Bytes> {
    let (status, body) = match dispatch(db, operation, body) {
        Ok(body) => (StatusCode::OK, body),
        Err(refused) => refused,
    };
    response(status, Bytes::from(body))
}

fn response(status: StatusCode, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(
        http::header::CONTENT_TYPE,
        http::HeaderValue::from_static("application/x-amz-json-1.0"),
    );
    response
}

/// Opens the database in `folder`, or in memory on `clock_ms`.
pub(crate) fn open(
    folder: Option<&Path>,
    clock_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
) -> Result<Database, String> {
    let opened = match folder {
        Some(folder) => Database::new(&folder.join("dynamodb.sqlite").to_string_lossy()),
        None => Database::memory_with_clock(Arc::new(SecondsClock(clock_ms))),
    };
    opened.map_err(|error| format!("DynamoDB could not be opened: {error}"))
}

/// The cloud's clock in the form dynoxide asks for.
struct SecondsClock(Arc<dyn Fn() -> i64 + Send + Sync>);

impl dynoxide::storage_backend::Clock for SecondsClock {
    fn now_unix_secs(&self) -> u64 {
        u64::try_from((self.0)() / 1000).unwrap_or(0)
    }

    #[expect(clippy::cast_precision_loss, reason = "milliseconds fit a double for millennia")]
    fn now_unix_secs_f64(&self) -> f64 {
        (self.0)() as f64 / 1000.0
    }
}

/// Creates `table` as the template describes it, unless it is there already.
pub(crate) fn create(db: &Database, table: &Table) -> Result<(), String> {
    let answer = handle(db, "CreateTable", create_request(table).to_string().as_bytes());
    let body = String::from_utf8_lossy(answer.body()).into_owned();
    if !answer.status().is_success() {
        if !body.contains("ResourceInUseException") {
            return Err(format!("table {} could not be created: {body}", table.logical_id));
        }
        check_schema(db, table)?;
    }
    if let Some(attribute) = &table.ttl_attribute {
        let request = json!({
            "TableName": table.name,
            "TimeToLiveSpecification": { "Enabled": true, "AttributeName": attribute },
        });
        // A table that is kept between runs has it already, which is an error to DynamoDB.
        handle(db, "UpdateTimeToLive", request.to_string().as_bytes());
    }
    Ok(())
}

/// A table that was kept must still be the one the template describes.
fn check_schema(db: &Database, table: &Table) -> Result<(), String> {
    let request = json!({ "TableName": table.name }).to_string();
    let answer = handle(db, "DescribeTable", request.as_bytes());
    let kept: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
    let (kept, wanted) = (&kept["Table"], create_request(table));
    let indexes = |described: &Value| -> Vec<(Value, Value)> {
        let indexes = described["GlobalSecondaryIndexes"].as_array().cloned().unwrap_or_default();
        indexes.iter().map(|i| (i["IndexName"].clone(), i["KeySchema"].clone())).collect()
    };
    if kept["KeySchema"] == wanted["KeySchema"] && indexes(kept) == indexes(&wanted) {
        return Ok(());
    }
    Err(format!(
        "the data kept for table {} has other keys than template.yaml; start over with --fresh",
        table.logical_id
    ))
}

fn create_request(table: &Table) -> Value {
    let attributes: Vec<Value> = table
        .attributes
        .iter()
        .map(|attribute| {
            let kind = match attribute.kind {
                AttributeType::String => "S",
                AttributeType::Number => "N",
                AttributeType::Binary => "B",
            };
            json!({ "AttributeName": attribute.name, "AttributeType": kind })
        })
        .collect();
    let mut request = json!({
        "TableName": table.name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": attributes,
        "KeySchema": key_schema(&table.key),
    });
    let indexes: Vec<Value> = table
        .indexes
        .iter()
        .filter(|index| index.scope == template::IndexScope::Global)
        .map(|index| {
            json!({
                "IndexName": index.name,
                "KeySchema": key_schema(&index.key),
                "Projection": projection(&index.projection),
            })
        })
        .collect();
    if !indexes.is_empty() {
        request["GlobalSecondaryIndexes"] = json!(indexes);
    }
    request
}

fn key_schema(key: &template::Key) -> Value {
    let mut schema = vec![json!({ "AttributeName": key.hash, "KeyType": "HASH" })];
    schema.extend(
        key.range.iter().map(|range| json!({ "AttributeName": range, "KeyType": "RANGE" })),
    );
    json!(schema)
}

fn projection(projection: &Projection) -> Value {
    match projection {
        Projection::All => json!({ "ProjectionType": "ALL" }),
        Projection::KeysOnly => json!({ "ProjectionType": "KEYS_ONLY" }),
        Projection::Include(names) => {
            json!({ "ProjectionType": "INCLUDE", "NonKeyAttributes": names })
        }
    }
}
