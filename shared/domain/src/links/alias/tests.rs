//! What may be chosen, and what may be read.

use super::reserved::RESERVED;
use super::*;
use proptest::prelude::*;

#[test]
fn aliases_follow_the_rules() {
    let fifty = "a".repeat(50);
    let too_long = "a".repeat(51);
    let table = [
        ("abc", Ok(())),
        ("Spring-Sale_2031", Ok(())),
        ("a-b", Ok(())),
        ("a--b", Ok(())),
        ("000", Ok(())),
        (&fifty, Ok(())),
        ("", Err(BadAlias::Length)),
        ("ab", Err(BadAlias::Length)),
        ("qr", Err(BadAlias::Length)),
        ("éé", Err(BadAlias::Length)),
        (&too_long, Err(BadAlias::Length)),
        ("a b", Err(BadAlias::Characters)),
        ("a/b", Err(BadAlias::Characters)),
        ("caf\u{e9}", Err(BadAlias::Characters)),
        ("openapi.json", Err(BadAlias::Characters)),
        (".well-known", Err(BadAlias::Characters)),
        ("a%2Fb", Err(BadAlias::Characters)),
        ("-abc", Err(BadAlias::Edges)),
        ("abc_", Err(BadAlias::Edges)),
        ("---", Err(BadAlias::Edges)),
        ("api", Err(BadAlias::Reserved)),
        ("API", Err(BadAlias::Reserved)),
        ("Health", Err(BadAlias::Reserved)),
        ("docs", Err(BadAlias::Reserved)),
        ("openapi", Err(BadAlias::Reserved)),
        ("apis-of-2031", Ok(())),
        ("healthy", Ok(())),
        ("fuvg", Ok(())),
        ("5h1T-happens", Err(BadAlias::Profane)),
    ];
    for (text, expected) in table {
        assert_eq!(Code::alias(text).map(|_| ()), expected, "{text}");
    }
}

#[test]
fn case_is_kept_and_counts() {
    let lower = Code::alias("sale").unwrap();
    let upper = Code::alias("Sale").unwrap();
    assert_ne!(lower, upper);
    assert_eq!((lower.as_str(), upper.as_str()), ("sale", "Sale"));
}

#[test]
fn an_alias_that_was_reserved_after_it_was_given_away_can_still_be_read() {
    for text in ["api", "5h1t"] {
        assert!(Code::alias(text).is_err());
        assert_eq!(Code::parse(text).unwrap().as_str(), text);
    }
}

#[test]
fn every_reserved_word_could_otherwise_be_chosen() {
    for word in RESERVED {
        assert_eq!(Code::alias(word), Err(BadAlias::Reserved), "{word}");
        assert_eq!(Code::alias(&word.to_uppercase()), Err(BadAlias::Reserved), "{word}");
    }
    assert!(RESERVED.is_sorted_by(|a, b| a < b));
}

#[test]
fn messages_complete_the_sentence_must_be() {
    let message = format!("`customAlias` must be {}", Code::alias("a").unwrap_err());
    assert_eq!(message, "`customAlias` must be 3 to 50 characters long");
}

proptest! {
    #[test]
    fn every_alias_that_can_be_chosen_can_be_read(text in "[A-Za-z0-9_.-]{0,52}") {
        if let Ok(code) = Code::alias(&text) {
            prop_assert_eq!(code.as_str(), &text);
            prop_assert_eq!(Code::parse(&text), Some(code));
        }
    }

    #[test]
    fn what_is_read_needs_no_escaping_in_a_path(text in "\\PC{0,60}|[a-z_-]{0,9}") {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if let Some(code) = Code::parse(&text) {
            prop_assert_eq!(code.as_str(), &text);
            prop_assert!((3..=50).contains(&text.len()) && text.bytes().all(plain));
        }
    }
}
