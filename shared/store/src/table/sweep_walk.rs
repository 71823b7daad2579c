//! The walk of a sweep: through some lists of `gsi2`, a page of each in a run, and on from there in the next run.
//!
//! A walk is pulled: a closure that is called with each page and awaits would not be `Send`. Its position is one
//! row, and losing that only means reading a page again.

use std::marker::PhantomData;

use domain::Result;
use serde::de::DeserializeOwned;

use super::{ALWAYS, Key, Table, text_of};
use crate::schema::{GSI2, GSI2_SK};

/// A walk, and its position.
#[derive(Debug)]
pub struct SweepWalk<'t, T> {
    table: &'t Table,
    key: Key,
    lists: Vec<String>,
    limit: i32,
    /// The sort key after which each list goes on; empty for its beginning.
    positions: Vec<String>,
    /// The positions as the row has them.
    saved: Option<String>,
    lists_done: usize,
    rows: PhantomData<fn() -> T>,
}

impl Table {
    /// The walk of that name: up to `limit` rows of each of these lists, oldest first.
    pub fn walk<T>(
        &self,
        name: &str,
        lists: impl IntoIterator<Item = String>,
        limit: i32,
    ) -> SweepWalk<'_, T> {
        let (lists, key) = (lists.into_iter().collect(), Key::new("sweep", name));
        let (positions, rows) = (Vec::new(), PhantomData);
        SweepWalk { table: self, key, lists, limit, positions, saved: None, lists_done: 0, rows }
    }
}

impl<T: DeserializeOwned> SweepWalk<'_, T> {
    /// The rows of the next list from where the last run stopped; `None` when it has come through all lists.
    pub async fn next_page(&mut self) -> Result<Option<Vec<T>>> {
        if self.saved.is_none() {
            self.begin().await?;
        }
        let (Some(list), Some(position)) =
            (self.lists.get(self.lists_done), self.positions.get_mut(self.lists_done))
        else {
            return Ok(None);
        };
        let after = if position.is_empty() { "0" } else { position.as_str() };
        let query = self.table.query("read a stretch", "gsi2pk = :list AND gsi2sk > :after");
        let query = query.index(GSI2).with(":list", list.as_str()).with(":after", after);
        let mut query = query.limit(self.limit);
        let rows = query.page().await?;
        let last_key = query.last_key().and_then(|key| text_of(key, GSI2_SK));
        last_key.unwrap_or_default().clone_into(position);
        self.lists_done += 1;
        Ok(Some(rows))
    }

    /// Writes its position, if that has moved.
    pub async fn save_position(self) -> Result {
        let positions = self.positions.join(",");
        if self.saved.as_ref() == Some(&positions) {
            return Ok(());
        }
        let position = ALWAYS.with(":position", positions);
        let action = "note where the walk stopped";
        self.table.update(self.key, "SET stopped_at = :position", position, action).await
    }

    async fn begin(&mut self) -> Result {
        let found = self.table.item(self.key.clone(), "read where the walk stopped").await?;
        let saved = found.as_ref().and_then(|item| text_of(item, "stopped_at"));
        let saved = saved.unwrap_or_default().to_owned();
        self.positions = saved.split(',').map(str::to_owned).collect();
        self.positions.resize(self.lists.len(), String::new());
        self.saved = Some(saved);
        Ok(())
    }
}
