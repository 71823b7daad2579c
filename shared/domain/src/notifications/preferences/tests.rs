//! Switches, their history, and do-not-disturb in every zone there is.

mod do_not_disturb;

use super::*;
use crate::Timestamp;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_772_323_200 + seconds).unwrap()
}

fn category(name: &str) -> Category {
    Category::parse(name).unwrap()
}

#[test]
fn by_default_everything_is_on_and_each_switch_stops_its_part() {
    let orders = category("orders");
    let default = Preferences::default();
    assert!(Channel::ALL.iter().all(|channel| default.opt_out_for(&orders, *channel).is_none()));
    let (email, push) = (Channel::Email, Channel::Push);
    let one = OptOut::Category { category: orders.clone(), channel: email };
    for (switch, mail, other, pushed) in [
        (OptOut::Everything, true, true, true),
        (OptOut::Channel { channel: email }, true, true, false),
        (one, true, false, false),
    ] {
        let mut preferences = Preferences::default();
        preferences.switch_off(&switch);
        assert_eq!(preferences.opt_out_for(&orders, email), mail.then(|| switch.clone()));
        assert_eq!(preferences.opt_out_for(&category("news"), email).is_some(), other);
        assert_eq!(preferences.opt_out_for(&orders, push).is_some(), pushed);
    }
}

#[test]
fn caps_only_lower_the_default() {
    let mut preferences = Preferences::default();
    assert_eq!(Channel::ALL.map(|channel| preferences.daily_cap(channel)), [20, 10, 100]);
    preferences.daily_caps = BTreeMap::from([(Channel::Email, 3), (Channel::Sms, 500)]);
    assert_eq!(Channel::ALL.map(|channel| preferences.daily_cap(channel)), [3, 10, 100]);
}

#[test]
fn what_is_switched_is_kept_in_order_and_callers_can_not_rewrite_it() {
    let mut wanted = Preferences::default();
    wanted.switch_off(&OptOut::Channel { channel: Channel::Sms });
    wanted.history = vec![];
    wanted.version = 77;
    let off = Preferences::default().updated(wanted, ChangeSource::Unsubscribe, at(1));
    let on = off.updated(Preferences::default(), ChangeSource::Preferences, at(2));
    let told: Vec<_> = on.history.iter().map(|entry| (entry.at, entry.on, entry.by)).collect();
    assert_eq!(
        told,
        [(at(1), false, ChangeSource::Unsubscribe), (at(2), true, ChangeSource::Preferences)]
    );
    assert_eq!((off.version, on.version), (1, 2));
    assert!(off.narrows(&Preferences::default()) && !on.narrows(&off));
    let mut long = on;
    for turn in 0..300 {
        let wanted = Preferences { enabled: turn % 2 == 1, ..Preferences::default() };
        long = long.updated(wanted, ChangeSource::Preferences, at(turn));
    }
    assert_eq!(long.history.len(), Preferences::MAX_HISTORY_LENGTH);
}

#[test]
fn preferences_are_read_as_they_are_written() {
    let json = r#"{"timeZone":"europe/madrid","language":"es-mx",
        "doNotDisturb":{"start":"22:00","end":"07:30","days":["fri","sat"]},
        "channels":{"sms":false},"categories":{"news":{"email":false}},"dailyCaps":{"push":5}}"#;
    let read: Preferences = serde_json::from_str(json).unwrap();
    assert_eq!(read.time_zone.as_str(), "Europe/Madrid");
    assert_eq!(read.language.as_ref().map(Locale::as_str), Some("es_MX"));
    let written = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<Preferences>(&written).unwrap(), read);
    for wrong in [
        r#"{"timeZone":"Mars/Olympus"}"#,
        r#"{"language":"klingon"}"#,
        r#"{"doNotDisturb":{"start":"24:00","end":"07:00"}}"#,
        r#"{"doNotDisturb":{"start":"7:00","end":"08:00"}}"#,
        r#"{"channels":{"fax":true}}"#,
    ] {
        assert!(serde_json::from_str::<Preferences>(wrong).is_err(), "{wrong}");
    }
    let no_day = r#"{"doNotDisturb":{"start":"22:00","end":"07:30","days":[]}}"#;
    assert!(serde_json::from_str::<Preferences>(no_day).unwrap().validated().is_err());
    let shout = r#"{"categories":{"NEWS!":{"email":false}}}"#;
    assert!(serde_json::from_str::<Preferences>(shout).unwrap().validated().is_err());
}
