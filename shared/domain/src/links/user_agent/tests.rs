//! Headers as they are met, and what each of them says, in `agents.tsv`: kind, device, browser, header.

use proptest::prelude::*;

use super::*;

const AGENTS: &str = include_str!("agents.tsv");

/// The rows of the table: what is expected, and the header.
fn rows() -> impl Iterator<Item = (UserAgent, &'static str)> {
    AGENTS.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let columns: Vec<_> = line.split('\t').collect();
        let [kind, device, browser, header] = columns[..] else { panic!("four columns: {line}") };
        let kind = [
            ("person", AgentKind::Person),
            ("bot", AgentKind::Bot),
            ("preview", AgentKind::Preview),
        ]
        .into_iter()
        .find_map(|(name, value)| (name == kind).then_some(value))
        .unwrap();
        let all = [
            Device::Desktop,
            Device::Mobile,
            Device::Tablet,
            Device::Tv,
            Device::Console,
            Device::Other,
        ];
        let device = all.into_iter().find(|known| known.name() == device).unwrap();
        (UserAgent { kind, device, browser }, header)
    })
}

#[test]
fn headers_are_read_as_what_they_are() {
    let wrong: Vec<_> = rows()
        .map(|(expected, header)| (expected, parse(Some(header)), header))
        .filter(|(expected, actual, _)| expected != actual)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(rows().count() >= 80);
}

#[test]
fn the_cheap_test_for_previews_agrees_with_the_table() {
    for (expected, header) in rows() {
        assert_eq!(is_preview_bot(header), expected.kind == AgentKind::Preview, "{header}");
    }
}

#[test]
fn a_missing_or_bare_header_is_a_robots() {
    for header in [None, Some(""), Some("   "), Some("-"), Some("Mozilla/5.0")] {
        assert_eq!(parse(header).kind, AgentKind::Bot, "{header:?}");
    }
}

#[test]
fn every_name_of_a_preview_is_found_under_its_letters_in_any_case() {
    for name in all_previews() {
        for header in [name.to_uppercase(), format!("Mozilla/5.0 (compatible; {name}1.0)")] {
            assert!(is_preview_bot(&header), "{header}");
        }
        assert!(!is_preview_bot(&format!("x{name}")), "only where a word starts: {name}");
    }
    assert!(all_previews().count() > 20);
}

fn all_previews() -> impl Iterator<Item = &'static &'static str> {
    let pairs = (b'a'..=b'z').flat_map(|first| (b'a'..=b'z').map(move |second| [first, second]));
    pairs.flat_map(previews)
}

#[test]
fn what_a_message_does_not_keep_decides_nothing() {
    let before = "(".repeat(MAX_USER_AGENT_LENGTH - "whatsapp".len());
    assert!(is_preview_bot(&format!("{before}WhatsApp/2")));
    assert!(!is_preview_bot(&format!("{before}(WhatsApp/2")));
}

proptest! {
    #[test]
    fn the_cheap_test_agrees_with_the_reading(
        words in proptest::collection::vec(word(), 0..12),
        between in "[ ;/(é]",
    ) {
        let header = words.join(&between);
        prop_assert_eq!(is_preview_bot(&header), parse(Some(&header)).kind == AgentKind::Preview);
        let lower = header.to_ascii_lowercase();
        let tokens = all_previews().any(|name| lower.contains(name));
        prop_assert!(tokens || !is_preview_bot(&header), "found what is not there");
    }

    #[test]
    fn the_cheap_test_agrees_on_what_a_message_keeps(
        before in "[ -~]{0,260}",
        words in proptest::collection::vec(word(), 0..4),
    ) {
        let header = format!("{before} {}", words.join(" "));
        let kept = crate::links::clicks::user_agent(&header);
        let said = parse(kept.as_deref()).kind == AgentKind::Preview;
        prop_assert_eq!(is_preview_bot(header.trim_ascii()), said);
    }
}

fn word() -> impl Strategy<Value = String> {
    let known: Vec<_> = AGENTS.split_whitespace().map(str::to_owned).collect();
    prop_oneof![proptest::sample::select(known), "\\PC{0,8}"]
}
