//! Batches survive the wire, fit a message, and keep nothing of a header that they should not.

use proptest::prelude::*;

use super::*;

fn click() -> Click {
    Click {
        domain: String::new(),
        code: "abc".to_owned(),
        at: "2026-11-16T13:00:00.123Z".parse().unwrap(),
        visitor: 0xff00,
        head: false,
        user_agent: None,
        referrer: None,
        country: None,
        variant: None,
        limited: false,
    }
}

fn batch(clicks: Vec<Click>) -> ClickBatch {
    ClickBatch { id: "b1".to_owned(), clicks }
}

fn full_click() -> Click {
    Click {
        domain: "go.example".to_owned(),
        head: true,
        user_agent: Some("curl/8".to_owned()),
        referrer: Some("news.example".to_owned()),
        country: Some("DE".to_owned()),
        variant: Some(0),
        limited: true,
        ..click()
    }
}

#[test]
fn what_is_usual_is_left_out() {
    let json = batch(vec![click()]).to_json().unwrap();
    assert_eq!(
        json,
        r#"{"type":"ClickBatch","v":1,"id":"b1","clicks":[{"c":"abc","t":1794834000123,"u":"ff00"}]}"#
    );
    assert_eq!(ClickBatch::parse(&json).unwrap(), batch(vec![click()]));
}

#[test]
fn what_is_unusual_has_a_letter_each() {
    let json = batch(vec![full_click()]).to_json().unwrap();
    let expected = concat!(
        r#"{"d":"go.example","c":"abc","t":1794834000123,"u":"ff00","h":true,"a":"curl/8","#,
        r#""r":"news.example","g":"DE","x":0,"l":true}"#
    );
    assert!(json.contains(expected), "{json}");
    assert_eq!(ClickBatch::parse(&json).unwrap(), batch(vec![full_click()]));
}

#[test]
fn a_reader_passes_over_what_it_does_not_know_but_not_over_another_version() {
    let json = batch(vec![click()]).to_json().unwrap();
    let newer =
        json.replace(r#""c":"abc""#, r#""c":"abc","zz":[1]"#).replace("\"v\"", "\"w\":0,\"v\"");
    assert_eq!(ClickBatch::parse(&newer).unwrap(), batch(vec![click()]));
    let other = ClickBatch::parse(&json.replace("\"v\":1", "\"v\":2"));
    assert!(matches!(other, Err(Malformed::Version(2))));
    for broken in ["", "{}", &json.replace("ClickBatch", "Other"), &json.replace("ff00", "+-")] {
        assert!(matches!(ClickBatch::parse(broken), Err(Malformed::Json(_))), "{broken}");
    }
    let unending = json.replace("1794834000123", "9223372036854775807");
    assert!(matches!(ClickBatch::parse(&unending), Err(Malformed::Field("at"))));
}

#[test]
fn the_largest_batch_stays_under_half_a_message() {
    let largest = Click {
        domain: "d".repeat(MAX_HOST_LENGTH),
        code: "\"".repeat(MAX_CODE_LENGTH),
        at: "-002026-11-16T13:00:00.123Z".parse().unwrap(),
        visitor: u64::MAX,
        user_agent: Some("\\".repeat(MAX_USER_AGENT_LENGTH)),
        referrer: Some("r".repeat(MAX_HOST_LENGTH)),
        variant: Some(255),
        ..full_click()
    };
    let full =
        ClickBatch { id: "i".repeat(MAX_ID_LENGTH), clicks: vec![largest; MAX_BATCH_CLICKS] };
    let json = full.to_json().unwrap();
    assert!(json.len() <= MAX_BATCH_CLICKS * MAX_CLICK_BYTES + 200, "{}", json.len());
    const { assert!(MAX_BATCH_CLICKS * MAX_CLICK_BYTES + 200 <= MAX_MESSAGE_BYTES / 2) };
    assert_eq!(ClickBatch::parse(&json).unwrap(), full);
}

#[test]
fn what_is_past_its_bound_is_neither_written_nor_read() {
    type Spoil = fn(&mut ClickBatch);
    let table: [(&str, Spoil); 8] = [
        ("too many", |b| b.clicks = vec![click(); MAX_BATCH_CLICKS + 1]),
        ("id is", |b| b.id = String::new()),
        ("id is", |b| b.id = "i".repeat(MAX_ID_LENGTH + 1)),
        ("domain is", |b| b.clicks[0].domain = "d".repeat(MAX_HOST_LENGTH + 1)),
        ("code is", |b| b.clicks[0].code = String::new()),
        ("userAgent is", |b| b.clicks[0].user_agent = Some("a".repeat(MAX_USER_AGENT_LENGTH + 1))),
        ("referrer is", |b| b.clicks[0].referrer = Some("r".repeat(MAX_HOST_LENGTH + 1))),
        ("country is", |b| b.clicks[0].country = Some("DEU".to_owned())),
    ];
    for (complaint, spoil) in table {
        let mut spoilt = batch(vec![click()]);
        spoil(&mut spoilt);
        assert!(spoilt.to_json().unwrap_err().to_string().contains(complaint), "{complaint}");
        let json = serde_json::to_string(&Wire::from(&spoilt)).unwrap();
        let refused = ClickBatch::parse(&json).unwrap_err().to_string();
        assert!(refused.contains(complaint), "{refused}");
    }
}

#[test]
fn a_referrer_is_a_host_and_nothing_more() {
    let table = [
        ("https://news.example/story?id=1#top", Some("news.example")),
        ("http://News.Example", Some("news.example")),
        ("https://news.example?q=1", Some("news.example")),
        ("https://news.example#top", Some("news.example")),
        ("https://anna:secret@news.example:8443/x", Some("news.example")),
        ("https://a@b@news.example/", Some("news.example")),
        ("https://news.example./", Some("news.example")),
        ("https://news.example\\@evil.example/", Some("news.example")),
        ("android-app://com.google.android.gm", Some("com.google.android.gm")),
        ("android-app://com.google.android.gm/", Some("com.google.android.gm")),
        ("https://xn--bcher-kva.example/", Some("xn--bcher-kva.example")),
        ("http://192.0.2.7:80/", Some("192.0.2.7")),
        ("https://bücher.example/", None),
        ("https://news example/", None),
        ("http://[2001:db8::1]/", None),
        ("about:blank", None),
        ("news.example/story", None),
        ("/story", None),
        ("https://", None),
        ("https:///story", None),
        ("https://./", None),
        ("", None),
    ];
    for (header, host) in table {
        assert_eq!(referrer_host(header).as_deref(), host, "{header}");
    }
    let longest = "a".repeat(MAX_HOST_LENGTH);
    assert_eq!(referrer_host(&format!("https://{longest}/")), Some(longest.clone()));
    assert_eq!(referrer_host(&format!("https://{longest}a/")), None);
}

#[test]
fn a_country_has_two_letters() {
    for (header, expected) in [("DE", "DE"), ("fr", "FR"), (" us ", "US")] {
        assert_eq!(country(header).as_deref(), Some(expected));
    }
    for header in ["", "D", "DEU", "T1", "XX", "zz", "é", "D E"] {
        assert_eq!(country(header), None, "{header}");
    }
}

#[test]
fn a_user_agent_is_printable_and_short() {
    assert_eq!(user_agent(" curl/8\t").as_deref(), Some("curl/8"));
    assert_eq!(user_agent("a\u{1}bé\n c").as_deref(), Some("a?b??? c"));
    assert_eq!(user_agent(" \t"), None);
    assert_eq!(user_agent(&"é".repeat(500)), Some("?".repeat(MAX_USER_AGENT_LENGTH)));
}

prop_compose! {
    fn any_click()(
        domain in "[a-z.]{0,20}",
        code in "\\PC{1,16}",
        ms in -1_000_000_000_000_i64..10_000_000_000_000,
        visitor: u64,
        (head, limited) in any::<(bool, bool)>(),
        agent in proptest::option::of(any::<String>()),
        referrer in proptest::option::of("https?://\\PC{0,30}"),
        letters in proptest::option::of("[A-Za-z]{2}"),
        variant: Option<u8>,
    ) -> Click {
        Click {
            domain,
            code,
            at: Timestamp::from_millisecond(ms).unwrap(),
            visitor,
            head,
            user_agent: agent.as_deref().and_then(user_agent),
            referrer: referrer.as_deref().and_then(referrer_host),
            country: letters.as_deref().and_then(country),
            variant,
            limited,
        }
    }
}

proptest! {
    #[test]
    fn a_batch_survives_the_wire(clicks in proptest::collection::vec(any_click(), 0..8)) {
        let sent = batch(clicks);
        prop_assert_eq!(ClickBatch::parse(&sent.to_json().unwrap()).unwrap(), sent);
    }

    #[test]
    fn any_header_fits_its_field(header in any::<String>(), host in "\\PC{0,300}") {
        let referrer = referrer_host(&header).or_else(|| referrer_host(&format!("https://{host}")));
        let kept = Click {
            user_agent: user_agent(&header),
            referrer,
            country: country(&header),
            ..click()
        };
        prop_assert!(kept.check().is_ok());
    }
}
