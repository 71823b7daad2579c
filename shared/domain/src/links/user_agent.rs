//! Parses a `User-Agent` header: a person, a robot or a preview crawler; the device; the browser.
//!
//! Guarantee: [`is_preview_bot`] and [`parse`] never disagree, also when one sees the whole header and the
//! other what a message keeps of it. Absent: versions and operating systems, which are not counted.
//!
//! Written by hand, because no crate is both kept up and small. Those that carry the list of the
//! ua-parser project compile about a thousand regular expressions on each cold start; those with a
//! list of their own had their last release years before today's robots for language models.
//! What that costs is precision where it matters least: browsers that say they are another one (Brave
//! is Chrome, an iPad may be a Macintosh) are believed.

mod names;

use super::clicks::MAX_USER_AGENT_LENGTH;
use names::{
    BROWSERS, CONSOLES, DESKTOPS, ENGINES, FAMILIES, MOBILES, ROBOTS, TABLETS, TVS, previews,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserAgent {
    pub kind: AgentKind,
    /// With what; always `Other` unless it is a person.
    pub device: Device,
    /// The browser's or the app's name; [`OTHER`] unless it is a person with one that is known.
    pub browser: &'static str,
}

/// The name of a browser that is not known.
pub const OTHER: &str = "Other";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentKind {
    Person,
    /// A program: a crawler, a script, a monitor.
    Bot,
    /// A program that draws the card of a link in a chat or a feed.
    Preview,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// A computer, with or without a lid.
    Desktop,
    Mobile,
    /// A tablet that says so, or an Android that does not say that it is a phone.
    Tablet,
    /// A television or a box beside one.
    Tv,
    /// A games console.
    Console,
    Other,
}

impl Device {
    /// The device's name in the counters.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Desktop => "desktop",
            Self::Mobile => "mobile",
            Self::Tablet => "tablet",
            Self::Tv => "tv",
            Self::Console => "console",
            Self::Other => "other",
        }
    }
}

/// Parses a `User-Agent` header; a request without one is a robot's.
pub fn parse(user_agent: Option<&str>) -> UserAgent {
    let user_agent = user_agent.unwrap_or_default();
    let unknown = |kind| UserAgent { kind, device: Device::Other, browser: OTHER };
    if is_preview_bot(user_agent) {
        return unknown(AgentKind::Preview);
    }
    let text = user_agent.trim_ascii().to_ascii_lowercase();
    if is_robot(&text) {
        return unknown(AgentKind::Bot);
    }
    UserAgent { kind: AgentKind::Person, device: device(&text), browser: browser(&text) }
}

/// Whether this is a preview crawler. It runs before each redirect, hence one pass without an
/// allocation: only where a word starts, and only for the names that start with its two letters.
pub fn is_preview_bot(user_agent: &str) -> bool {
    let bytes = user_agent.trim_ascii().as_bytes();
    let mut seen = &bytes[..bytes.len().min(MAX_USER_AGENT_LENGTH)];
    let mut word_starts = true;
    while let [first, second, ..] = *seen {
        let in_word = first.is_ascii_alphanumeric();
        if in_word && word_starts {
            let candidates = previews([first, second]);
            if candidates.iter().any(|name| starts_with(seen, name)) {
                return true;
            }
        }
        word_starts = !in_word;
        seen = &seen[1..];
    }
    false
}

fn starts_with(text: &[u8], name: &str) -> bool {
    text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
}

/// A person's browser claims the descent that browsers have, says which engine it has, and has no
/// robot's word in it. Everything else is a robot, so that tomorrow's scripts need no line here.
fn is_robot(text: &str) -> bool {
    let is_browser = has(text, FAMILIES) && has(text, ENGINES);
    !is_browser
        || has(text, ROBOTS)
        || has_bot_compatible_token(text)
        || has_word_ending_in_bot(text)
}

/// Robots say `(compatible; Name` where Internet Explorer once said that it was like Netscape.
fn has_bot_compatible_token(text: &str) -> bool {
    text.contains("compatible;") && !has(text, &["msie", "trident/", "konqueror"])
}

/// Whether a word ends in "bot"; that of the phones called Cubot does too.
fn has_word_ending_in_bot(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| (word.ends_with("bot") || word.ends_with("bots")) && word != "cubot")
}

/// In this order, because televisions and tablets also name the system of a phone or a computer.
fn device(text: &str) -> Device {
    let is_phone = has(text, MOBILES);
    if has(text, CONSOLES) && !is_phone {
        Device::Console
    } else if has(text, TVS) {
        Device::Tv
    } else if has(text, TABLETS) && !text.contains("tablet pc") {
        Device::Tablet
    } else if is_phone {
        Device::Mobile
    } else if text.contains("android") {
        Device::Tablet
    } else if has(text, DESKTOPS) {
        Device::Desktop
    } else {
        Device::Other
    }
}

fn browser(text: &str) -> &'static str {
    BROWSERS.iter().find(|(tokens, _)| has(text, tokens)).map_or(OTHER, |(_, name)| name)
}

fn has(text: &str, tokens: &[&str]) -> bool {
    tokens.iter().any(|token| text.contains(token))
}

#[cfg(test)]
mod tests;
