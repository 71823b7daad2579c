//! What is seen through, and what is left alone.

use super::*;
use proptest::prelude::*;

fn plain(word: &str) -> String {
    word.bytes().map(|letter| char::from(rot13(letter))).collect()
}

/// The word with digits in place of letters.
fn disguised(word: &str) -> String {
    let digit = |letter| match letter {
        'o' => '0',
        'i' | 'l' => '1',
        'z' => '2',
        'e' => '3',
        'a' => '4',
        's' => '5',
        'g' => '6',
        't' => '7',
        'b' => '8',
        other => other,
    };
    plain(word).chars().map(digit).collect()
}

#[test]
fn the_lists_are_lower_case_sorted_and_have_no_word_twice() {
    for list in [PROFANE, AMBIGUOUS] {
        assert!(list.is_sorted_by(|a, b| a < b));
        assert!(list.iter().all(|word| word.len() >= 3));
        assert!(list.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())));
    }
    assert!(!AMBIGUOUS.iter().any(|word| PROFANE.contains(word)));
}

#[test]
fn every_word_is_found_in_any_case_and_through_digits() {
    for word in PROFANE.iter().chain(AMBIGUOUS) {
        for text in [plain(word), plain(word).to_uppercase(), disguised(word)] {
            assert!(is_profane(&text), "{word}");
            assert!(looks_profane(&format!("Xx{text}y")), "{word}");
        }
    }
    for word in PROFANE {
        assert!(is_profane(&format!("my-{}2", disguised(word))), "{word}");
    }
}

#[test]
fn ordinary_words_make_aliases() {
    let words = [
        "analytics-2031",
        "assessment",
        "bassline",
        "class",
        "cocktail",
        "competition",
        "computer",
        "debate",
        "document",
        "essex",
        "grape",
        "hello",
        "matchingapp",
        "moby-dick",
        "municipal",
        "openissue",
        "parse",
        "peacock",
        "popular",
        "push-it",
        "raccoon",
        "reputation",
        "saltwater",
        "schedule",
        "swanky",
        "technique",
        "therapist",
        "title",
        "torpedo",
        "unique",
        "4551st",
    ];
    for word in words {
        assert!(!is_profane(word), "{word}");
    }
    assert!(looks_profane("class") && looks_profane("4551st"), "codes are judged more strictly");
}

proptest! {
    #[test]
    fn what_passes_for_a_code_passes_for_an_alias(text in "[A-Za-z0-9]{3,9}") {
        prop_assert!(looks_profane(&text) || !is_profane(&text));
    }
}
