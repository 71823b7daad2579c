//! What the rows say: every write that the store carried out, one after the other.

use std::collections::BTreeMap;

use domain::accounts::SecretHash;
use domain::limits::Quota;
use serde_json::Value;
use tests::Lab;

/// The numbers of a row, by attribute.
type Numbers = BTreeMap<String, i64>;

/// What was debited from counters that count windows.
#[derive(Debug, Default)]
pub(super) struct DebitLog {
    rows: BTreeMap<String, Numbers>,
    /// Units that each window of a row came to, without what was given back.
    windows: BTreeMap<String, BTreeMap<i64, i64>>,
    /// The most that a window ever counted.
    peaks: BTreeMap<String, i64>,
    /// The most that was debited at once.
    largest: BTreeMap<String, i64>,
}

/// The row of a rule for an entity, as the store names it.
pub(super) fn row_of(rule: &str, quota: &Quota, entity: &str) -> String {
    let hash = SecretHash::of(entity).to_hex();
    format!("count#{rule}#{}#{}#0", quota.algorithm_key(), &hash[..24])
}

impl DebitLog {
    pub(super) fn of(lab: &Lab) -> Self {
        let mut debits = Self::default();
        for call in lab.cloud.faults.recorded().iter().filter(|call| call.done) {
            let body: Value = serde_json::from_slice(&call.body).unwrap_or_default();
            let parts = body["TransactItems"].as_array().cloned().unwrap_or_default();
            for write in parts.iter().map(|part| &part["Update"]).chain([&body]) {
                let row = write["Key"]["pk"]["S"].as_str().unwrap_or_default();
                if row.starts_with("count#") {
                    debits.apply(row, write);
                }
            }
        }
        debits
    }

    /// Units that all windows of a row came to.
    pub(super) fn sum(&self, row: &str) -> i64 {
        self.windows.get(row).map_or(0, |windows| windows.values().sum())
    }

    /// How many windows a row had.
    pub(super) fn windows(&self, row: &str) -> usize {
        self.windows.get(row).map_or(0, BTreeMap::len)
    }

    pub(super) fn peak(&self, row: &str) -> i64 {
        self.peaks.get(row).copied().unwrap_or(0)
    }

    pub(super) fn largest(&self, row: &str) -> i64 {
        self.largest.get(row).copied().unwrap_or(0)
    }

    fn apply(&mut self, row: &str, write: &Value) {
        let numbers = self.rows.entry(row.to_owned()).or_default();
        let was = numbers.clone();
        for (name, value) in changes(write, &was) {
            numbers.insert(name, value);
        }
        let get = |numbers: &Numbers, name: &str| numbers.get(name).copied().unwrap_or(0);
        let (window, used) = (get(numbers, "window"), get(numbers, "used"));
        let windows = self.windows.entry(row.to_owned()).or_default();
        windows.insert(window, used);
        if let Some(before) = windows.get_mut(&(window - 1)) {
            // What is given back after its window has ended is taken from the number carried over.
            *before = get(numbers, "before").min(*before);
        }
        let begun = if get(&was, "window") == window { get(&was, "used") } else { 0 };
        let (peak, largest) = (
            self.peaks.entry(row.to_owned()).or_default(),
            self.largest.entry(row.to_owned()).or_default(),
        );
        *peak = (*peak).max(used);
        *largest = (*largest).max(used - begun);
    }
}

/// What an update expression makes of a row: `SET #a = :v, #b = #c + :v ADD #d :v`.
fn changes(write: &Value, was: &Numbers) -> Vec<(String, i64)> {
    let expression = write["UpdateExpression"].as_str().unwrap_or_default();
    let (set, add) = expression.split_once(" ADD ").unwrap_or((expression, ""));
    let name = |alias: &str| {
        let name = write["ExpressionAttributeNames"][alias].as_str();
        name.unwrap_or(alias).to_owned()
    };
    let value = |alias: &str| -> Option<i64> {
        write["ExpressionAttributeValues"][alias]["N"].as_str()?.parse().ok()
    };
    let old = |alias: &str| was.get(&name(alias)).copied().unwrap_or(0);
    let set = set.trim_start_matches("SET ").split(", ").filter_map(|part| {
        let (left, right) = part.split_once(" = ")?;
        let value = match right.split_once(" + ") {
            Some((other, more)) => old(other) + value(more)?,
            None => value(right)?,
        };
        Some((name(left), value))
    });
    let add = add.split(", ").filter_map(|part| {
        let (left, more) = part.split_once(' ')?;
        Some((name(left), old(left) + value(more)?))
    });
    set.chain(add).collect()
}
