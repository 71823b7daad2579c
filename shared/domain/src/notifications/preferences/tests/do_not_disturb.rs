//! Do-not-disturb, compared with a clock on the wall.

use jiff::Span;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::super::do_not_disturb::Day;
use super::super::time_zone::DATABASE;
use super::*;

const HOUR: i64 = 3_600;

fn preferences(zone: &str, start: u16, end: u16, days: &[Day]) -> Preferences {
    let clock = |minutes| TimeOfDay::at(minutes).unwrap();
    let do_not_disturb = DoNotDisturb { start: clock(start), end: clock(end), days: days.to_vec() };
    let time_zone = TimeZoneName::parse(zone).unwrap();
    Preferences { time_zone, do_not_disturb: Some(do_not_disturb), ..Preferences::default() }
}

/// Whether the clock on the wall shows a time in a window that began on one of its days.
fn wall(zone: &TimeZone, now: Timestamp, start: u16, end: u16, days: &[Day]) -> bool {
    let local = zone.to_datetime(now);
    let minutes = u16::try_from(i32::from(local.hour()) * 60 + i32::from(local.minute())).unwrap();
    let day = |back: i64| {
        let date = local.date().checked_sub(Span::new().days(back)).unwrap();
        Day::ALL[usize::try_from(date.weekday().to_monday_zero_offset()).unwrap()]
    };
    if start <= end {
        start <= minutes && minutes < end && days.contains(&day(0))
    } else {
        (minutes >= start && days.contains(&day(0))) || (minutes < end && days.contains(&day(1)))
    }
}

fn zones() -> Vec<String> {
    DATABASE.available().map(|name| name.to_string()).collect()
}

/// Moments at which a zone's clock was or will be set, strange ones of the past included.
fn transitions(zone: &TimeZone) -> Vec<Timestamp> {
    let now = at(0);
    let past = zone.preceding(now).take(6).map(|transition| transition.timestamp());
    let future = zone.following(now).take(2).map(|transition| transition.timestamp());
    past.chain(future).filter(|moment| moment.as_second() > -2_000_000_000).collect()
}

/// What has to hold at any moment, in any zone.
fn check(zone_name: &str, zone: &TimeZone, now: Timestamp, start: u16, end: u16, days: &[Day]) {
    let preferences = preferences(zone_name, start, end, days);
    let until = do_not_disturb_until(&preferences, now);
    let told = || format!("{zone_name} at {now}, {start}-{end} on {days:?}: {until:?}");
    let on_wall = wall(zone, now, start, end, days);
    assert!(!on_wall || until.is_some(), "disturbed in the window: {}", told());
    let near =
        [-50 * HOUR, 50 * HOUR].map(|by| Timestamp::from_second(now.as_second() + by).unwrap());
    let steady = zone.following(near[0]).next().is_none_or(|next| next.timestamp() > near[1]);
    assert!(!steady || on_wall == until.is_some(), "where no clock is set: {}", told());
    if let Some(until) = until {
        assert!(until > now, "{}", told());
        assert_eq!(do_not_disturb_until(&preferences, until), None, "the end is free: {}", told());
        assert!(until.as_second() - now.as_second() <= 50 * HOUR, "{}", told());
        let before = Timestamp::from_second(until.as_second() - 1).unwrap();
        let same = do_not_disturb_until(&preferences, before.max(now));
        assert_eq!(same, Some(until), "quiet to the end: {}", told());
    }
}

#[test]
fn no_user_is_disturbed_in_any_zone_around_any_transition() {
    let windows =
        [(22 * 60, 7 * 60), (0, 6 * 60), (60, 150), (120, 180), (23 * 60 + 59, 1), (105, 90)];
    let mut validated = 0;
    for name in zones() {
        let zone = DATABASE.get(&name).unwrap();
        for moment in transitions(&zone) {
            for quarter in -14..=14 {
                let now = Timestamp::from_second(moment.as_second() + quarter * 900).unwrap();
                let (start, end) = windows[usize::try_from(validated % 6).unwrap()];
                check(&name, &zone, now, start, end, &Day::ALL);
                validated += 1;
            }
        }
    }
    assert!(validated > 50_000, "{validated}");
}

#[test]
fn windows_end_as_people_expect() {
    for (zone, start, end, now, until) in [
        // Over midnight; the end is not in it.
        ("Europe/Madrid", "22:00", "07:00", "2026-03-03T21:00Z", Some("2026-03-04T06:00Z")),
        ("Europe/Madrid", "22:00", "07:00", "2026-03-03T20:59Z", None),
        ("Europe/Madrid", "22:00", "07:00", "2026-03-04T06:00Z", None),
        // The night that is an hour shorter, and the one that is longer.
        ("Europe/Madrid", "22:00", "07:00", "2026-03-28T23:00Z", Some("2026-03-29T05:00Z")),
        ("Europe/Madrid", "22:00", "07:00", "2026-10-24T23:00Z", Some("2026-10-25T06:00Z")),
        // It would end at 02:30, which does not exist: clocks go from 02:00 to 03:00.
        ("Europe/Madrid", "22:00", "02:30", "2026-03-29T00:59Z", Some("2026-03-29T01:00Z")),
        // It ends at 02:30, which comes twice: the second counts.
        ("Europe/Madrid", "22:00", "02:30", "2026-10-25T00:45Z", Some("2026-10-25T01:30Z")),
        // Both in the hour that does not exist.
        ("Europe/Madrid", "02:10", "02:50", "2026-03-29T01:00Z", None),
        // Clocks are set forward at midnight.
        ("Africa/Cairo", "00:00", "06:00", "2026-04-23T22:00Z", Some("2026-04-24T03:00Z")),
        // A day that never was.
        ("Pacific/Apia", "22:00", "07:00", "2011-12-30T09:30Z", Some("2011-12-30T17:00Z")),
        // Start and end are one: no window.
        ("Europe/Madrid", "22:00", "22:00", "2026-03-03T21:00Z", None),
        ("Asia/Kathmandu", "00:00", "00:15", "2026-03-03T18:20Z", Some("2026-03-03T18:30Z")),
    ] {
        let [start, end] = [start, end].map(|text| TimeOfDay::parse(text).unwrap());
        let do_not_disturb = DoNotDisturb { start, end, days: Day::ALL.to_vec() };
        let time_zone = TimeZoneName::parse(zone).unwrap();
        let preferences = Preferences {
            time_zone,
            do_not_disturb: Some(do_not_disturb),
            ..Preferences::default()
        };
        let found = do_not_disturb_until(&preferences, now.parse().unwrap());
        assert_eq!(found, until.map(|text| text.parse().unwrap()), "{zone} {now}");
    }
}

#[test]
fn a_window_over_midnight_belongs_to_the_day_it_begins_on() {
    let preferences = preferences("UTC", 22 * 60, 7 * 60, &[Day::Fri]);
    let do_not_disturb =
        |text: &str| do_not_disturb_until(&preferences, text.parse().unwrap()).is_some();
    assert!(
        do_not_disturb("2026-03-06T22:00Z") && do_not_disturb("2026-03-07T06:59Z"),
        "Friday night"
    );
    assert!(
        !do_not_disturb("2026-03-06T06:00Z") && !do_not_disturb("2026-03-07T22:00Z"),
        "the nights around it"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn windows_hold_in_any_zone_at_any_time(
        zone in proptest::sample::select(zones()),
        seconds in -1_000_000_000_i64..4_000_000_000,
        start in 0_u16..1_440,
        end in 0_u16..1_440,
        days in proptest::sample::subsequence(Day::ALL.to_vec(), 1..=7),
    ) {
        let rules = DATABASE.get(&zone).unwrap();
        let now = Timestamp::from_second(seconds).unwrap();
        check(&zone, &rules, now, start, end, &days);
        let same = preferences(&zone, start, start, &days);
        prop_assert_eq!(do_not_disturb_until(&same, now), None);
    }
}
