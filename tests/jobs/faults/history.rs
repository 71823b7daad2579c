//! What the store did, write by write: whatever must hold at every instant is looked up here.

use std::collections::{BTreeMap, BTreeSet};

use local::faults::RecordedCall;
use serde_json::Value;

/// What types have that nobody decided about.
const USUAL_LIMIT: u64 = 10;

/// A job after one of its changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    /// The number of the write.
    pub(super) write: usize,
    pub(super) status: String,
    pub(super) attempt: u64,
    pub(super) worker: String,
}

/// Every change of every job, in the order of the writes, and what was wrong at some instant.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) states: BTreeMap<String, Vec<State>>,
    /// Whoever came in while as many as may were in.
    pub(super) over: Vec<String>,
    /// Whoever began before a job ended that it waits for, and that job.
    pub(super) early: Vec<(String, String)>,
    limits: BTreeMap<String, u64>,
    held: BTreeMap<String, BTreeSet<String>>,
}

impl History {
    /// Goes through all of it.
    pub(super) fn of(recorded: &[RecordedCall]) -> Self {
        let mut history = Self::default();
        for (write, call) in recorded.iter().enumerate().filter(|(_, call)| is_transaction(call)) {
            let request: Value = serde_json::from_slice(&call.body).unwrap_or_default();
            let parts = request["TransactItems"].as_array().into_iter().flatten();
            for (verb, part) in parts.filter_map(Value::as_object).flatten() {
                history.note(write, verb, part);
            }
        }
        history
    }

    fn note(&mut self, write: usize, verb: &str, part: &Value) {
        let row = if verb == "Put" { &part["Item"] } else { &part["Key"] };
        let [pk, sk] = ["pk", "sk"].map(|name| text(row, name));
        if verb == "Put" && pk == "types" {
            self.limits.insert(sk.to_owned(), number(row, "max_concurrent"));
        } else if verb == "Put" && sk == "job" {
            self.change(write, row);
        } else if let Some(id) = sk.strip_prefix("holder#") {
            let kind = pk.split('#').nth(1).unwrap_or_default();
            self.hold(verb, kind, id);
        }
    }

    fn change(&mut self, write: usize, row: &Value) {
        let (id, status) = (text(row, "id"), text(row, "status"));
        if status == "RUNNING" {
            let parents = row["dependencies"]["L"].as_array().into_iter().flatten();
            for parent in parents.filter_map(|parent| parent["S"].as_str()) {
                let last = self.states.get(parent).and_then(|states| states.last());
                let status = last.map_or("", |state| state.status.as_str());
                if !["COMPLETED", "FAILED", "CANCELLED"].contains(&status) {
                    self.early.push((id.to_owned(), parent.to_owned()));
                }
            }
        }
        let state = State {
            write,
            status: status.to_owned(),
            attempt: number(row, "attempt"),
            worker: text(row, "worker").to_owned(),
        };
        self.states.entry(id.to_owned()).or_default().push(state);
    }

    fn hold(&mut self, verb: &str, kind: &str, id: &str) {
        let holders = self.held.entry(kind.to_owned()).or_default();
        if verb == "Delete" {
            holders.remove(id);
        } else if holders.insert(id.to_owned()) {
            let limit = self.limits.get(kind).copied().unwrap_or(USUAL_LIMIT);
            if holders.len() as u64 > limit {
                self.over.push(format!("{id} is number {} of {limit} of {kind}", holders.len()));
            }
        }
    }
}

fn is_transaction(call: &RecordedCall) -> bool {
    call.done && call.operation == "TransactWriteItems"
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name]["S"].as_str().unwrap_or_default()
}

fn number(row: &Value, name: &str) -> u64 {
    row[name]["N"].as_str().and_then(|number| number.parse().ok()).unwrap_or(0)
}
