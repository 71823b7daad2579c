//! JSON as rows: the answers of the sources' APIs, or lists cut out of them.

use serde_json::{Map, Value};

use super::{Cell, Row, non_null};
use crate::links::transfer::columns::normalized;
use crate::links::transfer::{BadRecord, ImportError};

/// What APIs wrap their lists in, outermost first.
const WRAPPERS: [&str; 4] = ["shortUrls", "links", "result", "data"];

/// The objects of the list in `text`.
pub(in crate::links::transfer) fn rows(
    text: &str,
) -> Result<Vec<Result<Row, BadRecord>>, ImportError> {
    let body: Value = serde_json::from_str(text)
        .map_err(|error| ImportError::BrokenJson { line: error.line() })?;
    let items = list(body).ok_or(ImportError::NoList)?;
    Ok(items.into_iter().enumerate().map(|(at, item)| row(item, at + 1)).collect())
}

/// The list, through any wrappers. One of the APIs numbers its links as an object's fields.
fn list(body: Value) -> Option<Vec<Value>> {
    let mut fields = match body {
        Value::Array(items) => return Some(items),
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
    };
    if let Some(inner) = WRAPPERS.iter().find_map(|name| fields.remove(*name)) {
        return list(inner);
    }
    let numbered = !fields.is_empty() && fields.values().all(Value::is_object);
    numbered.then(|| fields.into_iter().map(|(_, item)| item).collect())
}

fn row(item: Value, line: usize) -> Result<Row, BadRecord> {
    let Value::Object(fields) = item else {
        return Err(BadRecord { line, problem: "it is not an object".to_owned() });
    };
    let mut cells = Vec::new();
    flatten("", fields, &mut cells);
    Ok(Row { line, cells })
}

fn flatten(path: &str, fields: Map<String, Value>, cells: &mut Vec<(std::rc::Rc<str>, Cell)>) {
    for (name, field) in fields {
        let name = format!("{path}{}", normalized(&name));
        let cell = match field {
            Value::Object(fields) => {
                flatten(&name, fields, cells);
                continue;
            }
            Value::Array(items) => Some(Cell::List(items.into_iter().filter_map(scalar).collect())),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                scalar(field).map(Cell::Text)
            }
        };
        let filled = |cell: &Cell| !matches!(cell, Cell::List(items) if items.is_empty());
        cells.extend(cell.filter(filled).map(|cell| (name.into(), cell)));
    }
}

/// A value's text, if it has any.
fn scalar(field: Value) -> Option<String> {
    match field {
        Value::String(text) => non_null(&text).map(str::to_owned),
        Value::Bool(_) | Value::Number(_) => Some(field.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
