//! The table of vectors, the rules the table cannot hold, and what is true of every text.

use std::net::Ipv4Addr;

use proptest::prelude::*;

use super::*;
use crate::links::public_ip::is_public;

mod additions;
mod warnings;

const RULES: TargetRules<'_> =
    TargetRules { max_length: TargetRules::DEFAULT_LENGTH, own_hosts: &["sho.rt", "go.sho.rt"] };

fn parsed(text: &str) -> Target {
    Target::parse(text, &RULES).unwrap_or_else(|invalid| panic!("{text:?}: {invalid}"))
}

/// `(verdict, reason or URL, text)` of each vector.
fn vectors() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    let lines = include_str!("vectors.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| {
        let (verdict, rest) = line.split_once('|').expect("a verdict");
        let (expected, text) = rest.split_once('|').expect("a reason or URL");
        (verdict, expected, unescaped(text))
    })
}

fn unescaped(text: &str) -> String {
    serde_json::from_str(&format!("\"{text}\"")).unwrap()
}

#[test]
fn every_vector_is_judged_as_the_table_says() {
    let mut wrong = Vec::new();
    for (verdict, expected, text) in vectors() {
        let judged = match Target::parse(&text, &RULES) {
            Ok(target) => ("safe", target.0),
            Err(invalid) => ("refused", invalid.name().to_owned()),
        };
        if judged != (verdict, expected.to_owned()) {
            wrong.push(format!("{text:?}: {judged:?}, not {verdict} {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(vectors().count() >= 200);
}

#[test]
fn length_is_counted_as_written_and_as_normalised() {
    let rules = TargetRules { max_length: 30, own_hosts: &[] };
    let fits = format!("https://example.com/{}", "a".repeat(10));
    let grows = format!("https://example.com/{}", "ü".repeat(10));
    let growing_host = "https://bücherbücher.example/";
    assert_eq!(Target::parse(&fits, &rules).map(|target| target.0.len()), Ok(30));
    for long in [format!("{fits}a"), grows, growing_host.to_owned()] {
        assert_eq!(Target::parse(&long, &rules), Err(InvalidTarget::TooLong(30)), "{long}");
    }
}

#[test]
fn no_installation_raises_the_length_beyond_the_most() {
    let rules = TargetRules { max_length: usize::MAX, own_hosts: &[] };
    let at = |length: usize| format!("https://example.com/{}", "a".repeat(length - 20));
    assert!(Target::parse(&at(TargetRules::MAX_LENGTH), &rules).is_ok());
    assert_eq!(
        Target::parse(&at(TargetRules::MAX_LENGTH + 1), &rules),
        Err(InvalidTarget::TooLong(TargetRules::MAX_LENGTH))
    );
}

#[test]
fn an_own_host_is_named_as_such_even_when_it_is_internal() {
    let rules = TargetRules { max_length: 2_048, own_hosts: &["localhost", "127.0.0.1", "::1"] };
    for own in ["http://localhost:9000/a", "http://0x7f.1/a", "http://[0::1]:9000/a"] {
        assert_eq!(Target::parse(own, &rules), Err(InvalidTarget::OwnHost), "{own}");
    }
}

#[test]
fn a_reason_completes_the_sentence_that_names_the_field() {
    let sentence = |text| format!("`longUrl` must be {}", Target::parse(text, &RULES).unwrap_err());
    assert_eq!(sentence("ftp://x"), "`longUrl` must be a URL that begins with http:// or https://");
    assert_eq!(sentence(""), "`longUrl` must be a URL, not an empty text");
}

/// Reads a host the way C's `inet_aton` does: one to four numbers, each decimal, octal or hex.
fn read_as_address(host: &str) -> Option<Ipv4Addr> {
    let number = |part: &str| match part.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None if part.len() > 1 && part.starts_with('0') => u64::from_str_radix(part, 8).ok(),
        None => part.parse().ok(),
    };
    let parts: Vec<u64> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = parts.split_last().filter(|(_, first)| first.len() < 4)?;
    let shifted = first.iter().zip([24, 16, 8]).map(|(part, shift)| part << shift);
    u32::try_from(shifted.sum::<u64>() + last).ok().map(Ipv4Addr::from_bits)
}

fn keeps_its_promises(text: &str) -> Result<(), TestCaseError> {
    let Ok(target) = Target::parse(text, &RULES) else { return Ok(()) };
    prop_assert!(target.0.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{:?}", target);
    let again = Target::parse(target.as_str(), &RULES);
    prop_assert_eq!(again.as_ref(), Ok(&target));
    prop_assert!(target.0.starts_with("http://") || target.0.starts_with("https://"));
    let host = target.host();
    prop_assert_eq!(host, host.trim_end_matches('.').to_ascii_lowercase());
    prop_assert!(host.parse::<IpAddr>().map_or(true, is_public), "{}", host);
    prop_assert!(read_as_address(host).is_none_or(|v4| is_public(v4.into())), "{}", host);
    prop_assert!(!["sho.rt", "go.sho.rt", "localhost"].contains(&host));
    let reread = Url::parse(target.as_str()).expect("a URL");
    let reread = reread.host_str().expect("a host").trim_matches(['[', ']']).to_owned();
    prop_assert_eq!(host, reread);
    target.warnings();
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_is_judged_without_panic(text in any::<String>()) {
        keeps_its_promises(&text)?;
        let stored = Target::stored(&text);
        stored.warnings();
        stored.block_keys();
        stored.with_query(&text);
        let _ = stored.with_parameters(&[(&text, &text)]);
    }

    #[test]
    fn any_text_after_the_scheme_keeps_the_promises(rest in "\\PC{0,40}", s in "s?") {
        keeps_its_promises(&format!("http{s}://{rest}"))?;
    }

    #[test]
    fn hosts_made_of_tricks_keep_the_promises(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "127", "0x7f", "0177", "1", "0", "10", "192", "168", "169.254", "2130706433", ".", ".",
            "。", "%2e", "%31", "１", "①", "[", "]", "::", "ffff:", "7f00:1", "@", "#", "?", "/",
            ":", "80", "%00", "%0a", "localhost", "local", "sho", "rt", "example", "com", "xn--",
            "-", "_", "\\", "\t", "\u{AD}", "\u{200D}", "ß", "İ", "а", "％", "＠", "／",
        ]), 1..10),
    ) {
        keeps_its_promises(&format!("http://{}", pieces.concat()))?;
        keeps_its_promises(&format!("http://{}.example.com/{0}", pieces.concat()))?;
    }

    #[test]
    fn a_number_in_any_notation_is_as_public_as_its_address(bits in any::<u32>()) {
        let v4 = Ipv4Addr::from_bits(bits);
        let [a, b, c, d] = v4.octets();
        let low = bits & 0x00ff_ffff;
        for host in [
            format!("{v4}"), format!("{bits}"), format!("0x{bits:x}"), format!("0{bits:o}"),
            format!("{a}.{low}"), format!("0x{a:X}.0{b:o}.{c}.{d}"), format!("{v4}."),
            format!("[::ffff:{v4}]"),
        ] {
            let judged = Target::parse(&format!("http://{host}/"), &RULES);
            prop_assert_eq!(judged.is_ok(), is_public(v4.into()), "{}", host);
        }
    }
}
