//! What the store did, write by write, and what was handed over in between: what must hold at
//! every instant is looked up here.

use std::collections::{BTreeMap, BTreeSet};
use tests::Result;

use domain::notifications::{Breaker, Contacts, Delivery, Notification, Preferences};
use local::faults::RecordedCall;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A row as one write left it, with the number of that write.
pub(super) type Write<T> = (usize, T);

/// Every change of every row, in the order of the writes.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) notifications: BTreeMap<String, Notification>,
    /// By what providers call a delivery.
    pub(super) deliveries: BTreeMap<String, Vec<Write<Delivery>>>,
    pub(super) preferences: BTreeMap<String, Vec<Write<Preferences>>>,
    pub(super) contacts: BTreeMap<String, Vec<Write<Contacts>>>,
    /// Addresses that get nothing any more.
    pub(super) suppressed: Vec<Write<String>>,
    pub(super) breakers: BTreeMap<String, Vec<Write<Breaker>>>,
}

impl History {
    /// Goes through all of it. A transaction that was asked for twice under one name was done once.
    pub(super) fn from_recorded(recorded: &[RecordedCall]) -> Result<Self> {
        let mut history = Self::default();
        let mut names = BTreeSet::new();
        for (write, call) in recorded.iter().enumerate().filter(|(_, call)| call.done) {
            let request: Value = serde_json::from_slice(&call.body).unwrap_or_default();
            if call.operation == "PutItem" {
                history.record(write, &request["Item"])?;
                continue;
            }
            let name = request["ClientRequestToken"].as_str();
            if name.is_some_and(|name| !names.insert(name.to_owned())) {
                continue;
            }
            for part in request["TransactItems"].as_array().into_iter().flatten() {
                history.record(write, &part["Put"]["Item"])?;
            }
        }
        Ok(history)
    }

    fn record(&mut self, write: usize, row: &Value) -> Result {
        let [pk, sk] = ["pk", "sk"].map(|name| row[name]["S"].as_str().unwrap_or_default());
        let (kind, name) = pk.split_once('#').unwrap_or_default();
        match (kind, sk) {
            ("n", "notification") => {
                let known = self.notifications.insert(name.to_owned(), read(row)?);
                if known.is_some() {
                    return Err(format!("{name} was accepted twice"));
                }
            }
            ("n", _) if sk.starts_with("delivery#") => {
                let delivery: Delivery = read(row)?;
                self.deliveries.entry(delivery.id.key()).or_default().push((write, delivery));
            }
            ("user", "preferences") => {
                self.preferences.entry(name.to_owned()).or_default().push((write, read(row)?));
            }
            ("user", "contacts") => {
                self.contacts.entry(name.to_owned()).or_default().push((write, read(row)?));
            }
            ("address", "suppression") => self.suppressed.push((write, name.to_owned())),
            ("provider", "breaker") => {
                self.breakers.entry(name.to_owned()).or_default().push((write, read(row)?));
            }
            _ => {}
        }
        Ok(())
    }

    /// The notification that a delivery belongs to.
    pub(super) fn notification(&self, delivery: &Delivery) -> Result<&Notification> {
        let id = delivery.id.notification_id.as_str();
        self.notifications.get(id).ok_or_else(|| format!("{id} has a delivery and no row"))
    }
}

/// A row as it was before write number `write`.
pub(super) fn before<T>(writes: Option<&Vec<Write<T>>>, write: usize) -> Option<&T> {
    writes?.iter().rev().find(|(at, _)| *at < write).map(|(_, row)| row)
}

fn read<T: DeserializeOwned>(row: &Value) -> Result<T> {
    let members = row.as_object().map(plain_members).unwrap_or_default();
    serde_json::from_value(Value::Object(members))
        .map_err(|error| format!("a row can't be read: {error}: {row}"))
}

fn plain_members(members: &Map<String, Value>) -> Map<String, Value> {
    members.iter().map(|(name, value)| (name.clone(), plain(value))).collect()
}

/// A value without the names of its types.
fn plain(value: &Value) -> Value {
    let Some((kind, inner)) = value.as_object().and_then(|value| value.iter().next()) else {
        return Value::Null;
    };
    match (kind.as_str(), inner) {
        ("N", Value::String(number)) => serde_json::from_str(number).unwrap_or_default(),
        ("L", Value::Array(items)) => items.iter().map(plain).collect(),
        ("M", Value::Object(members)) => Value::Object(plain_members(members)),
        ("NULL", _) => Value::Null,
        _ => inner.clone(),
    }
}
