//! Hosts to look at twice, and those that are fine although they are not Latin.

use super::*;

#[test]
fn hosts_that_pose_as_others_are_warned_about() {
    use Warning::{AddressHost, ConfusableHost, MixedScriptHost, UnusualPort};
    let cases: [(&str, &[Warning]); 29] = [
        ("https://example.com/", &[]),
        ("https://bücher.com/", &[]),
        ("https://kız.com/", &[]),
        ("https://中国.com/", &[]),
        ("https://日本語テストの.jp/", &[]),
        ("https://abcテスト漢字.jp/", &[]),
        ("https://한국어漢字abc.kr/", &[]),
        ("https://ㄅㄆ中文.tw/", &[]),
        ("https://пример.рф/", &[]),
        ("https://пример.com/", &[]),
        ("https://παράδειγμα.gr/", &[]),
        ("https://☃.net/", &[]),
        // All of its letters look Latin, but so does nothing else in the name.
        ("https://сор.рф/", &[]),
        // Cyrillic а; Greek ο; Armenian օ.
        ("https://pаypal.com/", &[MixedScriptHost, ConfusableHost]),
        ("https://gοοgle.com/", &[MixedScriptHost, ConfusableHost]),
        ("https://gօօgle.com/", &[MixedScriptHost, ConfusableHost]),
        ("https://www.pаypal.com/", &[MixedScriptHost, ConfusableHost]),
        ("https://аbж.com/", &[MixedScriptHost]),
        ("https://テストж.jp/", &[MixedScriptHost]),
        ("https://ひらがな한글.jp/", &[MixedScriptHost]),
        // Wholly Cyrillic, Greek, or Latin beyond ASCII.
        ("https://аррӏе.com/", &[ConfusableHost]),
        ("https://xn--80ak6aa92e.com/", &[ConfusableHost]),
        ("https://сор.example.com/", &[ConfusableHost]),
        ("https://ɡooɡle.com/", &[ConfusableHost]),
        ("http://8.8.8.8/", &[AddressHost]),
        ("http://[2606:4700:4700::1111]:81/", &[AddressHost, UnusualPort]),
        ("https://example.com:22/", &[UnusualPort]),
        ("https://example.com:8443/", &[]),
        ("http://example.com:443/", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(parsed(text).warnings(), expected, "{text}");
    }
}

#[test]
fn warnings_have_names_of_their_own() {
    use Warning::{AddressHost, ConfusableHost, MixedScriptHost, UnusualPort};
    let names = [MixedScriptHost, ConfusableHost, AddressHost, UnusualPort].map(Warning::name);
    assert_eq!(names, ["mixed-script-host", "confusable-host", "address-host", "unusual-port"]);
}
