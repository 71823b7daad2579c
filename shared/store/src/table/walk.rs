//! Walks of sweeps: through some lists of `gsi2`, a stretch of each in a run, and on from there in the next.
//!
//! A walk is pulled: a closure that is called with each page and awaits would not be `Send`. Where it stopped is
//! one row, and losing that only means walking a stretch again.

use std::marker::PhantomData;

use domain::Failure;
use serde::de::DeserializeOwned;

use super::{ALWAYS, Key, Table, text_of};
use crate::schema::{GSI2, GSI2_SK};

/// A walk, and how far it has come.
#[derive(Debug)]
pub struct Walk<'t, T> {
    table: &'t Table,
    key: Key,
    lists: Vec<String>,
    limit: i32,
    /// Where each list goes on; empty for its beginning.
    positions: Vec<String>,
    /// What the row says of them.
    noted: Option<String>,
    passed: usize,
    rows: PhantomData<fn() -> T>,
}

impl Table {
    /// The walk of that name: up to `limit` rows of each of these lists, oldest first.
    pub fn walk<T>(
        &self,
        name: &str,
        lists: impl IntoIterator<Item = String>,
        limit: i32,
    ) -> Walk<'_, T> {
        let (lists, key) = (lists.into_iter().collect(), Key::new("sweep", name));
        let (positions, rows) = (Vec::new(), PhantomData);
        Walk { table: self, key, lists, limit, positions, noted: None, passed: 0, rows }
    }
}

impl<T: DeserializeOwned> Walk<'_, T> {
    /// The rows of the next list from where the last run stopped; `None` when it has come through all lists.
    pub async fn next(&mut self) -> Result<Option<Vec<T>>, Failure> {
        if self.noted.is_none() {
            self.begin().await?;
        }
        let (Some(list), Some(position)) =
            (self.lists.get(self.passed), self.positions.get_mut(self.passed))
        else {
            return Ok(None);
        };
        let after = if position.is_empty() { "0" } else { position.as_str() };
        let stretch = self.table.query("read a stretch", "gsi2pk = :list AND gsi2sk > :after");
        let stretch = stretch.on(GSI2).with(":list", list.as_str()).with(":after", after);
        let mut stretch = stretch.limit(self.limit);
        let rows = stretch.page().await?;
        let stopped_at = stretch.stopped_at().and_then(|key| text_of(key, GSI2_SK));
        stopped_at.unwrap_or_default().clone_into(position);
        self.passed += 1;
        Ok(Some(rows))
    }

    /// Notes where it stopped, if that is elsewhere than before.
    pub async fn note(self) -> Result<(), Failure> {
        let stopped_at = self.positions.join(",");
        if self.noted.as_ref() == Some(&stopped_at) {
            return Ok(());
        }
        let position = ALWAYS.with(":position", stopped_at);
        let action = "note where the walk stopped";
        self.table.update(self.key, "SET stopped_at = :position", position, action).await
    }

    async fn begin(&mut self) -> Result<(), Failure> {
        let found = self.table.item(self.key.clone(), "read where the walk stopped").await?;
        let noted = found.as_ref().and_then(|item| text_of(item, "stopped_at"));
        let noted = noted.unwrap_or_default().to_owned();
        self.positions = noted.split(',').map(str::to_owned).collect();
        self.positions.resize(self.lists.len(), String::new());
        self.noted = Some(noted);
        Ok(())
    }
}
