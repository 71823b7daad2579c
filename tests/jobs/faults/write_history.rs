//! The recorded writes, replayed in order: invariants that must hold at every write are checked here.

use std::collections::{BTreeMap, BTreeSet};

use local::faults::RecordedCall;
use serde_json::Value;

/// The limit of a built-in type that no admin has changed.
const DEFAULT_LIMIT: u64 = 10;

/// A job after one of its changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    /// The number of the write.
    pub(super) write: usize,
    pub(super) status: String,
    pub(super) attempt: u64,
    pub(super) worker: String,
}

/// Every change of every job, in the order of the writes, and violations of the invariants.
#[derive(Debug, Default)]
pub(super) struct WriteHistory {
    pub(super) states: BTreeMap<String, Vec<State>>,
    /// Jobs that were assigned while the holders were at the limit.
    pub(super) over_limit: Vec<String>,
    /// Jobs that started before one of their dependencies ended, and that dependency.
    pub(super) started_early: Vec<(String, String)>,
    limits: BTreeMap<String, u64>,
    held: BTreeMap<String, BTreeSet<String>>,
}

impl WriteHistory {
    pub(super) fn replay(recorded: &[RecordedCall]) -> Self {
        let mut history = Self::default();
        for (write, call) in recorded.iter().enumerate().filter(|(_, call)| is_transaction(call)) {
            let request: Value = serde_json::from_slice(&call.body).unwrap_or_default();
            let parts = request["TransactItems"].as_array().into_iter().flatten();
            for (verb, part) in parts.filter_map(Value::as_object).flatten() {
                history.apply(write, verb, part);
            }
        }
        history
    }

    fn apply(&mut self, write: usize, verb: &str, part: &Value) {
        let row = if verb == "Put" { &part["Item"] } else { &part["Key"] };
        let [pk, sk] = ["pk", "sk"].map(|name| text(row, name));
        if verb == "Put" && pk == "types" {
            self.limits.insert(sk.to_owned(), number(row, "max_concurrent"));
        } else if verb == "Put" && sk == "job" {
            self.change_job(write, row);
        } else if let Some(id) = sk.strip_prefix("holder#") {
            let job_type = pk.split('#').nth(1).unwrap_or_default();
            self.change_holder(verb, job_type, id);
        }
    }

    fn change_job(&mut self, write: usize, row: &Value) {
        let (id, status) = (text(row, "id"), text(row, "status"));
        if status == "RUNNING" {
            let parents = row["dependencies"]["L"].as_array().into_iter().flatten();
            for parent in parents.filter_map(|parent| parent["S"].as_str()) {
                let last = self.states.get(parent).and_then(|states| states.last());
                let status = last.map_or("", |state| state.status.as_str());
                if !["COMPLETED", "FAILED", "CANCELLED"].contains(&status) {
                    self.started_early.push((id.to_owned(), parent.to_owned()));
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

    fn change_holder(&mut self, verb: &str, job_type: &str, id: &str) {
        let holders = self.held.entry(job_type.to_owned()).or_default();
        if verb == "Delete" {
            holders.remove(id);
        } else if holders.insert(id.to_owned()) {
            let limit = self.limits.get(job_type).copied().unwrap_or(DEFAULT_LIMIT);
            if holders.len() as u64 > limit {
                self.over_limit
                    .push(format!("{id} is number {} of {limit} of {job_type}", holders.len()));
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
