//! Addresses that are, and addresses that try to be more.

use super::*;

fn email(text: &str) -> Result<Contacts, Rejected> {
    Contacts { email: Some(text.to_owned()), ..Contacts::default() }.validated()
}

#[test]
fn mailboxes_are_mailboxes_and_nothing_else() {
    for (text, written) in [
        ("ada@example.org", "ada@example.org"),
        ("Ada.L+tag@EXAMPLE.org", "Ada.L+tag@example.org"),
        ("ada@bücher.example", "ada@xn--bcher-kva.example"),
        ("o'neil_{x}@sub.example.co", "o'neil_{x}@sub.example.co"),
    ] {
        assert_eq!(email(text).unwrap().email.as_deref(), Some(written));
    }
    let long = format!("{}@example.org", "a".repeat(65));
    for text in [
        "",
        "ada",
        "@example.org",
        "ada@",
        "ada@localhost",
        "ada@example..org",
        ".ada@example.org",
        "ada..l@example.org",
        "ada@example.org\r\nBcc: eve@example.org",
        "ada\n@example.org",
        "Ada <ada@example.org>",
        "ada@example.org,eve@example.org",
        "\"ada b\"@example.org",
        "ada@exa mple.org",
        "ada@[127.0.0.1]",
        "ada@127.0.0.1",
        "ada@-example.org",
        "a\0b@example.org",
        "äda@example.org",
        long.as_str(),
    ] {
        assert!(email(text).is_err(), "{text:?}");
    }
}

#[test]
fn telephones_are_written_as_e164() {
    let phone =
        |text: &str| Contacts { phone: Some(text.to_owned()), ..Contacts::default() }.validated();
    assert!(phone("+34600123456").is_ok() && phone("+15005550006").is_ok());
    for text in [
        "34600123456",
        "+0123456789",
        "+34 600 123 456",
        "+1234567890123456",
        "+12345",
        "+34600x",
        "+٣٤٦٠٠١٢٣٤٥٦",
    ] {
        assert!(phone(text).is_err(), "{text}");
    }
}

#[test]
fn devices_are_checked_by_kind_and_there_are_ten_at_most() {
    let with = |address: Address| {
        let devices = BTreeMap::from([(DeviceId::parse("d1").unwrap(), address)]);
        Contacts { devices, ..Contacts::default() }.validated()
    };
    let web = |endpoint: &str, key: usize| Address::WebPush {
        endpoint: endpoint.to_owned(),
        p256dh: "B".repeat(key),
        auth: "a".repeat(22),
    };
    let hook = |url: &str| Address::Webhook { url: url.to_owned() };
    let apns = |token: &str| Address::Apns { token: token.to_owned() };
    let fcm = |token: &str| Address::Fcm { token: token.to_owned() };
    for address in [
        web("https://push.example/x", 87),
        hook("https://example.org/hook?x=1"),
        apns(&"0a".repeat(32)),
        fcm("abc:APA91b_x-y"),
    ] {
        assert!(with(address.clone()).is_ok(), "{address:?}");
    }
    for address in [
        web("http://push.example/x", 87),
        web("https://push.example/x", 12),
        hook("https://user:pw@example.org/"),
        hook("file:///etc/passwd"),
        hook("https://a b/"),
        hook("https://example.org/\r\nx"),
        apns("0a0a"),
        apns(&"zz".repeat(32)),
        fcm(""),
        fcm("a b"),
        Address::Email { address: "ada@example.org".to_owned() },
    ] {
        assert!(with(address.clone()).is_err(), "{address:?}");
    }
    let many = (0..11).map(|n| (DeviceId::parse(&format!("d{n}")).unwrap(), fcm("t"))).collect();
    assert!(Contacts { devices: many, ..Contacts::default() }.validated().is_err());
}

#[test]
fn without_named_channels_those_are_taken_that_the_person_wants_and_has() {
    let phone = DeviceId::parse("phone").unwrap();
    let contacts = Contacts {
        email: Some("ada@example.org".to_owned()),
        devices: BTreeMap::from([(phone.clone(), Address::Fcm { token: "t".to_owned() })]),
        ..Contacts::default()
    };
    let news = Category::parse("news").unwrap();
    let mut preferences = Preferences::default();
    let all = vec![Endpoint::Email, Endpoint::Push(phone.clone())];
    assert_eq!(contacts.endpoints_for(&[], &news, &preferences), all);
    let switch = super::super::OptOut::Category { category: news.clone(), channel: Channel::Email };
    preferences.switch_off(&switch);
    assert_eq!(contacts.endpoints_for(&[], &news, &preferences), [Endpoint::Push(phone)]);
    let named = contacts.endpoints_for(&[Channel::Email, Channel::Sms], &news, &preferences);
    assert_eq!(named, [Endpoint::Email], "what is named is taken, and stopped later");
}

#[test]
fn the_list_of_the_suppressed_knows_an_address_however_it_is_written() {
    let mail = |text: &str| Address::Email { address: text.to_owned() };
    let key = Suppression::key(&mail("ada@example.org"));
    assert_eq!(key, Suppression::key(&mail("ADA@example.org")));
    assert!(!key.contains("ada") && key.len() == 64);
    assert_ne!(key, Suppression::key(&Address::Fcm { token: "ada@example.org".to_owned() }));
}
