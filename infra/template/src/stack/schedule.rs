//! Reads `Schedule` and `ScheduleV2` events: `rate(…)` and `cron(…)`.

use std::time::Duration;

use crate::error::Result;
use crate::field::Field;
use crate::vocabulary;

/// A schedule that invokes the function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Its key in the `Events` section.
    pub event_id: String,
    /// When it fires.
    pub expression: Expression,
    /// The time zone a cron expression is read in; `None` stands for UTC.
    pub timezone: Option<String>,
    /// What the function receives instead of the event.
    pub input: Option<String>,
    /// Whether it is switched on.
    pub enabled: bool,
    /// The line of its key.
    pub line: usize,
}

/// When a schedule fires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// `rate(…)`: again and again after this long.
    Rate(Duration),
    /// `cron(…)`: the six fields inside the parentheses.
    Cron(String),
}

pub(crate) fn read(id: &str, details: &Field<'_>, event: &Field<'_>) -> Result<Schedule> {
    details.only(vocabulary::SCHEDULE_EVENT)?;
    if let (Some(_), Some(state)) = (details.get("Enabled")?, details.get("State")?) {
        return Err(state.error("give either Enabled or State, not both"));
    }
    let enabled = details.flag_at("Enabled")?;
    let expression = details.required("Schedule")?;
    schedule(id, details, &expression, enabled, event)
}

pub(crate) fn read_v2(id: &str, details: &Field<'_>, event: &Field<'_>) -> Result<Schedule> {
    details.only(vocabulary::SCHEDULE_V2_EVENT)?;
    let expression = details.required("ScheduleExpression")?;
    schedule(id, details, &expression, None, event)
}

fn schedule(
    id: &str,
    details: &Field<'_>,
    written: &Field<'_>,
    enabled: Option<bool>,
    event: &Field<'_>,
) -> Result<Schedule> {
    let states = [("ENABLED", true), ("DISABLED", false)];
    let state = details.get("State")?.map(|state| state.choice(&states)).transpose()?;
    Ok(Schedule {
        event_id: id.to_owned(),
        expression: expression(written)?,
        timezone: details.text_at("ScheduleExpressionTimezone")?,
        input: details.text_at("Input")?,
        enabled: enabled.or(state).unwrap_or(true),
        line: event.key_mark.line,
    })
}

fn expression(field: &Field<'_>) -> Result<Expression> {
    let text = field.text()?;
    let inside = |name: &str| text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
    if let Some(rate) = inside("rate").and_then(rate) {
        return Ok(Expression::Rate(rate));
    }
    if let Some(cron) = inside("cron").filter(|cron| cron.split_whitespace().count() == 6) {
        return Ok(Expression::Cron(cron.trim().to_owned()));
    }
    Err(field.expected("rate(1 minute), rate(5 minutes) or cron(with six fields)"))
}

/// A rate has the singular for one and the plural for more; AWS refuses `rate(1 minutes)`.
fn rate(text: &str) -> Option<Duration> {
    let (count, unit) = text.trim().split_once(' ')?;
    let count: u64 = count.parse().ok().filter(|count| *count > 0)?;
    let unit = if count == 1 { unit } else { unit.strip_suffix('s')? };
    let seconds = match unit {
        "minute" => 60,
        "hour" => 60 * 60,
        "day" => 24 * 60 * 60,
        _ => return None,
    };
    count.checked_mul(seconds).map(Duration::from_secs)
}
