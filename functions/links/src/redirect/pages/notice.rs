//! The pages for links that lead nowhere: unknown, over, switched off, or out of reach for a moment.
//!
//! Absent, on purpose: the destination. Whoever may not follow a link does not learn where it led.

use super::page;
use super::text::{address, prose};

/// As much of a mistyped code as is worth repeating.
const CODE: usize = 64;
/// As much of a reason as is worth reading.
const REASON: usize = 200;

/// 404: no link has this code.
pub fn missing(code: &str) -> String {
    let kept: String = code.chars().take(CODE).collect();
    let rest = if kept.len() < code.len() { "…" } else { "" };
    let text = format!(
        "<p>No link goes by <code dir=\"ltr\">{}{rest}</code>. It may have been deleted, or a \
         letter went missing on its way here.</p>\n\
         <p>Check the address letter by letter, capitals included, or ask whoever sent it to send \
         it again.</p>\n",
        address(&kept)
    );
    let track = "<path class=\"on\" d=\"M4 36h88\"/><path d=\"M60 36c20 0 20-24 40-24h56\"/>\
         <path class=\"gap\" d=\"M96 36h60\"/><circle cx=\"60\" cy=\"36\" r=\"6\"/>";
    notice("404", "This link leads nowhere", "", track, &text)
}

/// 410: the link was there and is over.
pub fn expired() -> String {
    let text = "<p>It has reached the date or the number of visits that its owner set, and no longer \
         leads anywhere.</p>\n\
         <p>Ask whoever sent it for a new one.</p>\n";
    let track = "<path class=\"on\" d=\"M4 36h112M116 20v32M124 24v24\"/>\
         <circle cx=\"40\" cy=\"36\" r=\"6\"/>";
    notice("410", "This link has expired", "", track, text)
}

/// 451: the destination was disabled, for `reason`.
pub fn blocked(reason: &str) -> String {
    let reason = prose(reason, REASON);
    let why = if reason.is_empty() {
        String::new()
    } else {
        format!("<dl><div><dt>Reason</dt><dd dir=\"auto\">{reason}</dd></div></dl>\n")
    };
    let text = format!(
        "<p>Its destination was disabled, so it no longer sends anyone there. Nothing from it \
         was loaded.</p>\n{why}"
    );
    let track = "<path class=\"on\" d=\"M4 36h72\"/><path d=\"M100 36h56\"/>\
         <path class=\"bar\" d=\"M76 20l24 32M100 20l-24 32\"/>\
         <circle cx=\"40\" cy=\"36\" r=\"6\"/>";
    notice("451", "This link was disabled", " stop", track, &text)
}

/// 503: the link could not be looked up just now.
pub fn unavailable() -> String {
    let text = "<p>The link could not be looked up just now. It is not lost: this usually passes \
         within a minute.</p>\n\
         <p class=\"act\"><a class=\"go\" href=\"\">Try again</a></p>\n";
    let track = "<path class=\"on\" d=\"M4 36h60\"/><path class=\"gap\" d=\"M72 36h24\"/>\
         <path d=\"M104 36h52\"/><circle cx=\"40\" cy=\"36\" r=\"6\"/>";
    notice("503", "One moment, please", " wait", track, text)
}

fn notice(status: &str, heading: &str, mood: &str, track: &str, text: &str) -> String {
    let content = format!(
        "<main class=\"notice{mood}\">\n<svg class=\"track\" viewBox=\"2 8 160 46\" width=\"160\" \
         height=\"46\" aria-hidden=\"true\">{track}</svg>\n\
         <p class=\"status\">{status}</p>\n<h1>{heading}</h1>\n{text}</main>\n"
    );
    page(heading, "", &content)
}
