//! Do-not-disturb: a window of the local day, and when it ends.
//!
//! A window begins on each of its days at `start` and ends when the clock next shows `end`, so one
//! over midnight belongs to the day that it begins on. `start` = `end` is no window at all: there
//! are opt-outs for that, and nothing may wait for ever.
//!
//! Where clocks are set forward over `start` or `end`, the moment they are set counts as both; where
//! they are set back, a window reaches from the first `start` to the last `end`. So no user is disturbed
//! while their clock shows a time in the window, whichever time round.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use super::Preferences;
use crate::notifications::Rejected;

/// A time of day, to the minute: `22:30`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeOfDay {
    minutes: u16,
}

impl TimeOfDay {
    pub fn at(minutes: u16) -> Option<Self> {
        (minutes < 1_440).then_some(Self { minutes })
    }

    /// Reads `HH:MM`.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let number = |digits: &str| {
            let fits = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit());
            fits.then(|| digits.parse::<u16>().ok()).flatten()
        };
        text.split_once(':')
            .and_then(|(hours, minutes)| Some((number(hours)?, number(minutes)?)))
            .filter(|(hours, minutes)| *hours < 24 && *minutes < 60)
            .map(|(hours, minutes)| Self { minutes: hours * 60 + minutes })
            .ok_or_else(|| Rejected::field("doNotDisturb", "times like `22:30`"))
    }

    fn time(self) -> Time {
        let part = |number: u16| i8::try_from(number).unwrap_or(0);
        Time::new(part(self.minutes / 60), part(self.minutes % 60), 0, 0).unwrap_or(Time::MIN)
    }
}

impl From<TimeOfDay> for String {
    fn from(clock: TimeOfDay) -> Self {
        format!("{:02}:{:02}", clock.minutes / 60, clock.minutes % 60)
    }
}

impl TryFrom<String> for TimeOfDay {
    type Error = Rejected;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Day {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

impl Day {
    pub const ALL: [Self; 7] =
        [Self::Mon, Self::Tue, Self::Wed, Self::Thu, Self::Fri, Self::Sat, Self::Sun];

    fn of(date: Date) -> Self {
        match date.weekday() {
            Weekday::Monday => Self::Mon,
            Weekday::Tuesday => Self::Tue,
            Weekday::Wednesday => Self::Wed,
            Weekday::Thursday => Self::Thu,
            Weekday::Friday => Self::Fri,
            Weekday::Saturday => Self::Sat,
            Weekday::Sunday => Self::Sun,
        }
    }
}

/// When a person is left alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DoNotDisturb {
    pub start: TimeOfDay,
    /// To then, on the next day if that is not later.
    pub end: TimeOfDay,
    /// On which days it begins; every day if nothing is said.
    #[serde(default = "every_day")]
    pub days: Vec<Day>,
}

fn every_day() -> Vec<Day> {
    Day::ALL.to_vec()
}

/// When the person may be disturbed again, if they may not be now.
pub fn do_not_disturb_until(preferences: &Preferences, now: Timestamp) -> Option<Timestamp> {
    let do_not_disturb = preferences.do_not_disturb.as_ref()?;
    let zone = preferences.time_zone.rules();
    let mut free = now;
    // Where clocks are set back, the window of one day may reach into that of the next.
    for _ in 0..4 {
        match window_end(do_not_disturb, &zone, free) {
            Some(end) => free = end,
            None => break,
        }
    }
    (free > now).then_some(free)
}

/// The end of the window that `at` lies in.
fn window_end(do_not_disturb: &DoNotDisturb, zone: &TimeZone, at: Timestamp) -> Option<Timestamp> {
    if do_not_disturb.start == do_not_disturb.end {
        return None;
    }
    // Zones have skipped whole days, hence two days back.
    let today = zone.to_datetime(at).date();
    let dates = (-2..=1).filter_map(|days| today.checked_add(Span::new().days(days)).ok());
    let windows =
        dates.filter(|date| do_not_disturb.days.contains(&Day::of(*date))).filter_map(|date| {
            let last = if do_not_disturb.end > do_not_disturb.start {
                date
            } else {
                date.tomorrow().ok()?
            };
            let (start, _) = instants(zone, date.to_datetime(do_not_disturb.start.time()))?;
            let (_, end) = instants(zone, last.to_datetime(do_not_disturb.end.time()))?;
            Some((start, end))
        });
    windows.filter(|(start, end)| *start <= at && at < *end).map(|(_, end)| end).max()
}

/// When the clock first and last shows `local`; where it never does, the moment it is set forward.
fn instants(zone: &TimeZone, local: DateTime) -> Option<(Timestamp, Timestamp)> {
    let ambiguous = zone.to_ambiguous_timestamp(local);
    match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { offset } => {
            let at = offset.to_timestamp(local).ok()?;
            Some((at, at))
        }
        AmbiguousOffset::Fold { before, after } => {
            Some((before.to_timestamp(local).ok()?, after.to_timestamp(local).ok()?))
        }
        AmbiguousOffset::Gap { before, .. } => {
            let later = before.to_timestamp(local).ok()?;
            let next = later.checked_add(Span::new().nanoseconds(1)).ok()?;
            let set =
                zone.preceding(next).next().map_or(later, |transition| transition.timestamp());
            Some((set, set))
        }
    }
}
