//! Every function that is deployed: what its binary weighs and what it does until its first answer, beside
//! another build of it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::process::Harness;
use super::sample::{self, Sample};
use super::store::Store;
use super::{TrustStores, process, zipped};
use crate::Result;
use crate::table::{Table, Verdict, grouped};

/// So much more than the other build may a function weigh or do.
const MAX_PERCENT: u64 = 105;

/// Each function with the sample event, under `events`, that it is started with.
const EVENTS: [(&str, &str); 21] = [
    ("accounts", "accounts/accounts/me"),
    ("count-clicks", "links/count-clicks/clicks"),
    ("deliver", "notifications/deliver/delivery-due"),
    ("describe", "service/describe/health"),
    ("dispatch", "jobs/dispatch/jobs-ready"),
    ("fan-out", "feed/fan-out/followed"),
    ("feed", "feed/feed/trending"),
    ("feed-socket", "feed/feed-socket/disconnect"),
    ("ids", "ids/ids/make"),
    ("jobs", "jobs/jobs/list"),
    ("limits", "limits/limits/read-settings"),
    ("notify", "notifications/notify/read-preferences"),
    ("redirect", "links/redirect/follow"),
    ("shorten", "links/shorten/list"),
    ("sweep-accounts", "accounts/sweep-accounts/scheduled"),
    ("sweep-feed", "feed/sweep-feed/scheduled"),
    ("sweep-jobs", "jobs/sweep-jobs/scheduled"),
    ("sweep-links", "links/sweep-links/scheduled"),
    ("sweep-notifications", "notifications/sweep-notifications/scheduled"),
    ("tend-keys", "accounts/tend-keys/key-used"),
    ("work", "jobs/work/job-assigned"),
];

/// Weighs and starts each function whose `bootstrap` is under `built`, beside those under `beside`.
pub(crate) fn run(built: &Path, baseline: Option<&Path>) -> bool {
    match measure(built, baseline) {
        Ok(table) => table.print(),
        Err(error) => {
            println!("Measuring failed: {error}");
            false
        }
    }
}

fn measure(built: &Path, baseline: Option<&Path>) -> Result<Table> {
    let kept = process::target()?.join("cold");
    fs::create_dir_all(&kept)?;
    let store = Store::new()?;
    let trust = TrustStores::write(&kept, &store.root)?;
    let mut table =
        Table::new("Every function", if baseline.is_some() { "baseline" } else { "bar" });
    for (name, event) in EVENTS {
        let event = read(event)?;
        let seen = |folder: &Path| -> Result<(u64, u64)> {
            let binary = folder.join(name).join("bootstrap");
            let zip = zipped(&fs::read(&binary)?)?;
            let sample = Sample::of(&event);
            let harness =
                Harness { store: &store, binary: &binary, trust: &trust.pinned, sample: &sample };
            let profile = kept.join(format!("{name}.every.callgrind"));
            // A start whose first calls happen to meet opens a connection for each.
            let cold = harness.count(1, &profile)?.min(harness.count(1, &profile)?);
            Ok((zip, cold))
        };
        let other = baseline.map(&seen).transpose().map_err(|error| format!("{name}: {error}"))?;
        let (zip, cold) = seen(built).map_err(|error| format!("{name}: {error}"))?;
        for (what, now, then) in [
            ("zip, bytes", zip, other.map(|(zip, _)| zip)),
            ("instructions, cold", cold, other.map(|(_, cold)| cold)),
        ] {
            let verdict = then
                .map_or(Verdict::Note, |then| Verdict::Counted(now * 100 <= then * MAX_PERCENT));
            let then = then.map(|then| format!("{} ({:+.1} %)", grouped(then), percent(now, then)));
            let what = format!("{name}: {what}");
            table.row(&what, grouped(now), &then.unwrap_or_default(), verdict);
        }
        println!("{name} measured");
    }
    Ok(table)
}

#[expect(clippy::cast_precision_loss, reason = "a percentage is shown with one digit")]
fn percent(now: u64, then: u64) -> f64 {
    (now as f64 / then as f64 - 1.0) * 100.0
}

/// A sample event, by the key that the measured process knows.
fn read(name: &str) -> Result<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../events");
    let text = fs::read_to_string(root.join(format!("{name}.json")))?;
    let mut event: Value = serde_json::from_str(&text)?;
    if let Some(header) = event.pointer_mut("/headers/authorization") {
        *header = Value::String(sample::authorization());
    }
    Ok(event)
}
