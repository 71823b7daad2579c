//! Pages of a list: which one is asked for, and what it looks like.

use boundary::http::{Cursor, Problem, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which page of a list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageQuery {
    /// `nextCursor` of the page before.
    cursor: Option<String>,
    /// How many at most, 1 to 100; 50 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<i32>,
}

impl PageQuery {
    pub(crate) fn limit(&self) -> Result<i32> {
        let limit = self.limit.unwrap_or(50);
        if (1..=100).contains(&limit) {
            Ok(limit)
        } else {
            Err(Problem::field("limit", "a number from 1 to 100"))
        }
    }

    /// Where the page starts, if the cursor is one of this list and `is_one` of its positions.
    pub(crate) fn position(
        &self,
        list: &str,
        is_one: impl Fn(&str) -> bool,
    ) -> Result<Option<String>> {
        let Some(text) = &self.cursor else { return Ok(None) };
        let position = Cursor::decode(list, text)?;
        if is_one(&position) { Ok(Some(position)) } else { Err(Cursor::invalid()) }
    }
}

/// A page of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageView<T> {
    pub(crate) items: Vec<T>,
    /// Pass it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}
