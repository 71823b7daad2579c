//! Schedules: `rate(…)` and `cron(…)` as the template writes them.

use std::sync::Arc;
use std::time::Duration;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::{Timestamp, tz::TimeZone};
use serde_json::json;
use template::{Expression, Schedule, Stack};

use crate::functions::{Functions, InvocationResult};

/// One schedule of one function.
#[derive(Debug, Clone)]
pub struct ScheduleEntry {
    /// The function's logical id.
    pub function: String,
    /// The schedule's name in the template.
    pub name: String,
    trigger: Trigger,
    input: Option<String>,
}

#[derive(Debug, Clone)]
enum Trigger {
    Rate(Duration),
    Cron(Box<Cron>),
}

/// Called after each run.
pub type RunReporter = Arc<dyn Fn(&ScheduleEntry, &InvocationResult, Duration) + Send + Sync>;

/// Every schedule of a stack.
#[derive(Debug, Clone)]
pub struct Schedules {
    entries: Arc<Vec<ScheduleEntry>>,
    functions: Functions,
}

impl Schedules {
    /// The schedules of `stack`.
    pub fn new(stack: &Stack, functions: Functions) -> Result<Self, String> {
        let mut entries = Vec::new();
        for function in &stack.functions {
            for schedule in function.schedules.iter().filter(|schedule| schedule.enabled) {
                entries.push(ScheduleEntry {
                    function: function.logical_id.clone(),
                    name: schedule.event_id.clone(),
                    trigger: trigger(schedule)
                        .map_err(|error| format!("{}: {error}", function.logical_id))?,
                    input: schedule.input.clone(),
                });
            }
        }
        Ok(Self { entries: Arc::new(entries), functions })
    }

    pub fn entries(&self) -> &[ScheduleEntry] {
        &self.entries
    }

    /// Runs an entry now.
    pub async fn run(&self, entry: &ScheduleEntry, now_ms: i64) -> InvocationResult {
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
    pub fn start(&self, now_ms: &Arc<dyn Fn() -> i64 + Send + Sync>, report: &RunReporter) {
        for entry in self.entries.iter() {
            let entry = entry.clone();
            let (schedules, now_ms, report) =
                (self.clone(), Arc::clone(now_ms), Arc::clone(report));
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(entry.until_due(now_ms())).await;
                    let started = tokio::time::Instant::now();
                    let outcome = schedules.run(&entry, now_ms()).await;
                    report(&entry, &outcome, started.elapsed());
                }
            });
        }
    }
}

impl ScheduleEntry {
    /// How long until it is due.
    fn until_due(&self, now_ms: i64) -> Duration {
        const ONE_DAY: Duration = Duration::from_hours(24);
        match &self.trigger {
            Trigger::Rate(rate) => *rate,
            Trigger::Cron(cron) => {
                let now = Timestamp::from_millisecond(now_ms).unwrap_or_default();
                let next = cron.find_next_occurrence(&now.to_zoned(TimeZone::UTC), false);
                next.ok().map_or(ONE_DAY, |next| {
                    let wait = next.timestamp().as_millisecond() - now_ms;
                    Duration::from_millis(u64::try_from(wait).unwrap_or(1).max(1))
                })
            }
        }
    }
}

fn trigger(schedule: &Schedule) -> Result<Trigger, String> {
    match &schedule.expression {
        Expression::Rate(rate) => Ok(Trigger::Rate(*rate)),
        Expression::Cron(fields) => {
            // EventBridge has no seconds, counts weekdays from 1 and always names the year.
            let parser = CronParser::builder()
                .seconds(Seconds::Required)
                .year(Year::Required)
                .alternative_weekdays(true)
                .sloppy_ranges(true)
                .build();
            let cron = parser.parse(&format!("0 {fields}"));
            cron.map(|cron| Trigger::Cron(Box::new(cron)))
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
        let entry = ScheduleEntry {
            function: "f".to_owned(),
            name: "x".to_owned(),
            trigger: trigger(&schedule).unwrap(),
            input: None,
        };
        let now: Timestamp = now.parse().unwrap();
        (now + entry.until_due(now.as_millisecond())).to_string()
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
