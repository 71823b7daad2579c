//! What makes a public host look like another: foreign letters, bare addresses, odd ports.
//!
//! A warning refuses nothing. Absent: a list of famous names to compare with; what is judged is
//! whether a label *could* be read as a Latin one, after UTS #39.

use std::net::IpAddr;

use icu_properties::CodePointMapData;
use icu_properties::props::Script;

/// A reason to look twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warning {
    /// A label mixes scripts that no language mixes.
    MixedScriptHost,
    /// A label has foreign letters, and all of them look like Latin ones.
    ConfusableHost,
    /// The host is an address, not a name.
    AddressHost,
    /// A port that web servers seldom use.
    UnusualPort,
}

impl Warning {
    /// The warning's name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MixedScriptHost => "mixed-script-host",
            Self::ConfusableHost => "confusable-host",
            Self::AddressHost => "address-host",
            Self::UnusualPort => "unusual-port",
        }
    }
}

/// All that applies, each at most once.
pub(super) fn warnings_of(host: &str, port: Option<&str>) -> Vec<Warning> {
    let labels: Vec<String> = host.split('.').map(readable).collect();
    let top = labels.last().map(|label| scripts(label)).unwrap_or_default();
    let mixed = labels.iter().any(|label| is_mixed(&scripts(label)));
    let confusable = labels.iter().any(|label| {
        // A whole name in one script is what it seems: a Cyrillic top-level domain promises no Latin.
        let of_its_top = scripts(label) == top && !top.contains(&Script::Latin);
        is_confusable(label) && !of_its_top
    });
    let address = host.parse::<IpAddr>().is_ok();
    let unusual = port.is_some_and(|port| !["80", "443", "8080", "8443"].contains(&port));
    let found = [
        (mixed, Warning::MixedScriptHost),
        (confusable, Warning::ConfusableHost),
        (address, Warning::AddressHost),
        (unusual, Warning::UnusualPort),
    ];
    found.into_iter().filter_map(|(applies, warning)| applies.then_some(warning)).collect()
}

/// The label as a browser might show it.
fn readable(label: &str) -> String {
    let decoded = label.strip_prefix("xn--").and_then(idna::punycode::decode_to_string);
    decoded.unwrap_or_else(|| label.to_owned())
}

/// The scripts in order of appearance, less what belongs to all of them.
fn scripts(label: &str) -> Vec<Script> {
    let map = CodePointMapData::<Script>::new();
    let mut found = Vec::new();
    for script in label.chars().map(|character| map.get(character)) {
        let shared = [Script::Common, Script::Inherited].contains(&script);
        if !shared && !found.contains(&script) {
            found.push(script);
        }
    }
    found
}

/// Japanese, Chinese and Korean are written in several scripts, Latin among them.
fn is_mixed(scripts: &[Script]) -> bool {
    const TOGETHER: [&[Script]; 3] = [
        &[Script::Latin, Script::Han, Script::Hiragana, Script::Katakana],
        &[Script::Latin, Script::Han, Script::Bopomofo],
        &[Script::Latin, Script::Han, Script::Hangul],
    ];
    let belong = |set: &[Script]| scripts.iter().all(|script| set.contains(script));
    scripts.len() > 1 && !TOGETHER.into_iter().any(belong)
}

/// Lower-case letters (the only ones a normalised host has, but for Cherokee and Lisu, which look
/// like Latin capitals) that pass for a Latin letter in common fonts.
const LATIN_LOOKALIKES: [&str; 6] = [
    // Latin beyond ASCII. The dotless i is missing on purpose: Turkish is full of it.
    "ɑɡɩᴄᴏᴜᴠᴡᴢ",
    "асԁеһіјӏорԛѕԝхуүъьҽпгѵѡԍ",
    "αγηικνορτυχωϲϳ",
    "գզլհյոսցւօ",
    "ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎷᎻᎽᏀᏂᏃᏎᏏᏒᏔᏕᏙᏚᏞᏟᏢᏦᏧᏴ",
    "ꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓨꓪꓫꓬꓮꓰꓲꓳꓴ",
];

fn is_confusable(label: &str) -> bool {
    let looks_latin = |c: char| LATIN_LOOKALIKES.iter().any(|letters| letters.contains(c));
    !label.is_ascii() && label.chars().all(|c| c.is_ascii() || looks_latin(c))
}
