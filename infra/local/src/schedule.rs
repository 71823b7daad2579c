//! What runs by the clock: `rate(…)` and `cron(…)` in the template's own words.

use std::sync::Arc;
use std::time::Duration;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::{Timestamp, tz::TimeZone};
use serde_json::json;
use template::{Expression, Schedule, Stack};

use crate::functions::{Functions, Outcome};

/// One schedule of one function.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The function's logical id.
    pub function: String,
    /// The schedule's name in the template.
    pub name: String,
    rhythm: Rhythm,
    input: Option<String>,
}

#[derive(Debug, Clone)]
enum Rhythm {
    Every(Duration),
    At(Box<Cron>),
}

/// Hears of each run.
pub type Report = Arc<dyn Fn(&Entry, &Outcome, Duration) + Send + Sync>;

/// Every schedule of a stack.
#[derive(Debug, Clone)]
pub struct Schedules {
    entries: Arc<Vec<Entry>>,
    functions: Functions,
}

impl Schedules {
    /// The schedules of `stack`.
    pub fn new(stack: &Stack, functions: Functions) -> Result<Self, String> {
        let mut entries = Vec::new();
        for function in &stack.functions {
            for schedule in function.schedules.iter().filter(|schedule| schedule.enabled) {
                entries.push(Entry {
                    function: function.logical_id.clone(),
                    name: schedule.event_id.clone(),
                    rhythm: rhythm(schedule)
                        .map_err(|error| format!("{}: {error}", function.logical_id))?,
                    input: schedule.input.clone(),
                });
            }
        }
        Ok(Self { entries: Arc::new(entries), functions })
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Runs an entry now.
    pub async fn run(&self, entry: &Entry, now_ms: i64) -> Outcome {
        let time = Timestamp::from_millisecond(now_ms).unwrap_or_default();
        let event = entry.input.clone().unwrap_or_else(|| {
            json!({
                "version": "0",
                "id": format!("{:x}", now_ms),
                "detail-type": "Scheduled Event",
                "source": "aws.events",
                "account": template::ACCOUNT,
                "time": time.to_string(),
                "region": template::REGION,
                "resources": [format!("arn:aws:events:us-east-1:000000000000:rule/{}", entry.name)],
                "detail": {},
            })
            .to_string()
        });
        self.functions.invoke(&entry.function, event.into_bytes()).await
    }

    /// Runs every entry in the background when it is due, until the runtime ends.
    pub fn start(&self, now_ms: &Arc<dyn Fn() -> i64 + Send + Sync>, report: &Report) {
        for entry in self.entries.iter() {
            let entry = entry.clone();
            let (schedules, now_ms, report) =
                (self.clone(), Arc::clone(now_ms), Arc::clone(report));
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(entry.wait_from(now_ms())).await;
                    let started = tokio::time::Instant::now();
                    let outcome = schedules.run(&entry, now_ms()).await;
                    report(&entry, &outcome, started.elapsed());
                }
            });
        }
    }
}

impl Entry {
    /// How long until it is due.
    fn wait_from(&self, now_ms: i64) -> Duration {
        const A_DAY: Duration = Duration::from_hours(24);
        match &self.rhythm {
            Rhythm::Every(rate) => *rate,
            Rhythm::At(cron) => {
                let now = Timestamp::from_millisecond(now_ms).unwrap_or_default();
                let next = cron.find_next_occurrence(&now.to_zoned(TimeZone::UTC), false);
                next.ok().map_or(A_DAY, |next| {
                    let wait = next.timestamp().as_millisecond() - now_ms;
                    Duration::from_millis(u64::try_from(wait).unwrap_or(1).max(1))
                })
            }
        }
    }
}

fn rhythm(schedule: &Schedule) -> Result<Rhythm, String> {
    match &schedule.expression {
        Expression::Rate(rate) => Ok(Rhythm::Every(*rate)),
        Expression::Cron(fields) => {
            // EventBridge has no seconds, counts weekdays from 1 and always names the year.
            let parser = CronParser::builder()
                .seconds(Seconds::Required)
                .year(Year::Required)
                .alternative_weekdays(true)
                .sloppy_ranges(true)
                .build();
            let cron = parser.parse(&format!("0 {fields}"));
            cron.map(|cron| Rhythm::At(Box::new(cron)))
                .map_err(|error| format!("cron({fields}): {error}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(fields: &str, now: &str) -> String {
        let schedule = Schedule {
            event_id: "x".to_owned(),
            expression: Expression::Cron(fields.to_owned()),
            timezone: None,
            input: None,
            enabled: true,
            line: 1,
        };
        let entry = Entry {
            function: "f".to_owned(),
            name: "x".to_owned(),
            rhythm: rhythm(&schedule).unwrap(),
            input: None,
        };
        let now: Timestamp = now.parse().unwrap();
        (now + entry.wait_from(now.as_millisecond())).to_string()
    }

    #[test]
    fn cron_is_read_as_eventbridge_reads_it() {
        for (fields, due) in [
            ("0 12 * * ? *", "2026-03-04T12:00:00Z"),
            ("0/15 * * * ? *", "2026-03-04T10:15:00Z"),
            ("0 9 ? * 2-6 *", "2026-03-05T09:00:00Z"),
            ("0 9 ? * SUN *", "2026-03-08T09:00:00Z"),
            ("0 0 1 * ? *", "2026-04-01T00:00:00Z"),
        ] {
            assert_eq!(next(fields, "2026-03-04T10:00:30Z"), due, "{fields}");
        }
    }
}
