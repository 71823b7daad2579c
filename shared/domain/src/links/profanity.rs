//! Keeps codes and aliases from spelling profanities.
//!
//! It is a courtesy and no moderation: a short list of words in the languages people are likely to
//! read, seen through upper case and digits that pose as letters. It does not look across `-` and
//! `_`, which would find a profanity in "push-it", and it does not know what a link leads to.
//!
//! The words are stored in ROT13, so that reading the source is no ordeal.

#[cfg(test)]
mod tests;

/// Words that are profane wherever they stand.
const PROFANE: &[&str] = &[
    "avttn",
    "avttre",
    "bebfch",
    "cbea",
    "chggnan",
    "chgnva",
    "craqrwb",
    "crexryr",
    "cvmqn",
    "cvqbe",
    "cvreqby",
    "fcnfgvp",
    "fgebamb",
    "fnybcr",
    "fpujhpugry",
    "fpurvff",
    "fpuynzcr",
    "funezhgn",
    "fuvg",
    "fvrturvy",
    "fvxgve",
    "fyhg",
    "genaal",
    "inssnaphyb",
    "intvan",
    "ivggh",
    "jnaxre",
    "juber",
    "jvpufre",
    "lneenx",
    "nefpuybpu",
    "nefrubyr",
    "nffubyr",
    "nzpvx",
    "obyybpx",
    "ohprgn",
    "onfgneq",
    "ourapubq",
    "ovgpu",
    "oybjwbo",
    "oylng",
    "pbaaneq",
    "pbhvyyr",
    "phag",
    "pnenyub",
    "pnmmb",
    "pnoeba",
    "puhgvln",
    "qvpxurnq",
    "qvyqb",
    "raphyr",
    "sbgmr",
    "shpx",
    "snttbg",
    "svggn",
    "svpxra",
    "tbqireqbzzr",
    "uherafbua",
    "uvgyre",
    "wbqre",
    "wronp",
    "wvmm",
    "xahyyn",
    "xbfbznx",
    "xbxbg",
    "xhein",
    "xhejn",
    "xybbgmnx",
    "zhfpuv",
    "zhqnx",
    "znevpba",
    "znqnepubq",
    "zreqn",
    "zreqr",
    "zvapuvn",
    "zvreqn",
];

/// Words that are profane by themselves and part of many that are not, such as "class" or "title".
const AMBIGUOUS: &[&str] = &[
    "ahggr", "anmv", "arhx", "artre", "avdhr", "cbb", "cbbc", "cbeen", "cbyyn", "chffl", "chgb",
    "chgn", "chgr", "cnfxn", "cravf", "crqb", "cvff", "encr", "encvfg", "ergneq", "fhxn", "frk",
    "gheq", "gjng", "gvg", "gvgf", "iretn", "jnax", "kkk", "nahf", "nany", "nefpu", "nefr", "nff",
    "obbo", "pbba", "pbpx", "penc", "phyb", "phz", "puhw", "puvatn", "puvax", "puvaxb", "pvcn",
    "qnza", "qvpx", "sbqn", "snfm", "snt", "svpx", "svtn", "ubre", "ubzb", "uher", "xhg", "xhx",
    "xnpxr", "xvxr", "xxx", "yhy", "znaxb", "zvys",
];

/// Whether an alias has a profanity in it, or is one of the ambiguous words. A user chose the alias, so
/// ordinary words that happen to contain an ambiguous one pass.
pub(super) fn is_profane(text: &str) -> bool {
    let is = |word: &&str| word.len() == text.len() && contains(text, word);
    PROFANE.iter().any(|word| contains(text, word)) || AMBIGUOUS.iter().any(is)
}

/// Whether a code has anything in it that could be taken for a profanity: there is always another code.
pub(super) fn looks_profane(text: &str) -> bool {
    PROFANE.iter().chain(AMBIGUOUS).any(|word| contains(text, word))
}

fn contains(text: &str, word: &str) -> bool {
    text.as_bytes().windows(word.len()).any(|window| {
        window.iter().zip(word.bytes()).all(|(&written, stored)| stands_for(written, rot13(stored)))
    })
}

const fn stands_for(written: u8, meant: u8) -> bool {
    written.eq_ignore_ascii_case(&meant)
        || matches!(
            (written, meant),
            (b'0', b'o')
                | (b'1', b'i' | b'l')
                | (b'2', b'z')
                | (b'3', b'e')
                | (b'4', b'a')
                | (b'5', b's')
                | (b'6' | b'9', b'g')
                | (b'7', b't')
                | (b'8', b'b')
        )
}

/// Undoes ROT13 on a lower-case letter.
const fn rot13(letter: u8) -> u8 {
    if letter < b'n' { letter + 13 } else { letter - 13 }
}
