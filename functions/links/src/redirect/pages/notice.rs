//! The pages for links that can't be followed: unknown, expired, blocked, or unavailable for a moment.
//!
//! Absent, on purpose: the destination. A visitor who may not follow a link does not learn where it led.

use maud::{Markup, html};

use super::page;
use super::text::{one_line, visible};

/// How many characters of a mistyped code are repeated.
const MAX_CODE: usize = 64;
/// How many characters of a reason are shown.
const MAX_REASON: usize = 200;

/// 404: no link has this code.
pub fn not_found(code: &str) -> String {
    let kept: String = code.chars().take(MAX_CODE).collect();
    let ellipsis = if kept.len() < code.len() { "…" } else { "" };
    let text = html! {
        p {
            "No link goes by " code dir="ltr" { (visible(&kept)) (ellipsis) }
            ". It may have been deleted, or a letter went missing on its way here."
        }
        p {
            "Check the address letter by letter, capitals included, or ask the sender to send it again."
        }
    };
    let track = html! {
        path.on d="M4 36h88" {}
        path d="M60 36c20 0 20-24 40-24h56" {}
        path.gap d="M96 36h60" {}
        circle cx="60" cy="36" r="6" {}
    };
    notice(404, "This link leads nowhere", "notice", &track, &text)
}

/// 410: the link was there and is over.
pub fn expired() -> String {
    let text = html! {
        p {
            "It has reached the date or the number of visits that its owner set, and no longer leads \
             anywhere."
        }
        p { "Ask the sender for a new one." }
    };
    let track = html! {
        path.on d="M4 36h112M116 20v32M124 24v24" {}
        circle cx="40" cy="36" r="6" {}
    };
    notice(410, "This link has expired", "notice", &track, &text)
}

/// 451: the destination was disabled, for `reason`.
pub fn blocked(reason: &str) -> String {
    let reason = one_line(reason, MAX_REASON);
    let text = html! {
        p {
            "Its destination was disabled, so it no longer sends visitors there. Nothing from it was \
             loaded."
        }
        @if !reason.is_empty() {
            dl { div { dt { "Reason" } dd dir="auto" { (reason) } } }
        }
    };
    let track = html! {
        path.on d="M4 36h72" {}
        path d="M100 36h56" {}
        path.bar d="M76 20l24 32M100 20l-24 32" {}
        circle cx="40" cy="36" r="6" {}
    };
    notice(451, "This link was disabled", "notice stop", &track, &text)
}

/// 503: the link could not be looked up just now.
pub fn unavailable() -> String {
    let text = html! {
        p {
            "The link could not be looked up just now. It is not lost: this usually passes within a \
             minute."
        }
        p.act { a.go href="" { "Try again" } }
    };
    let track = html! {
        path.on d="M4 36h60" {}
        path.gap d="M72 36h24" {}
        path d="M104 36h52" {}
        circle cx="40" cy="36" r="6" {}
    };
    notice(503, "One moment, please", "notice wait", &track, &text)
}

fn notice(status: u16, heading: &str, class: &str, track: &Markup, text: &Markup) -> String {
    let content = html! {
        main class=(class) {
            svg.track viewBox="2 8 160 46" width="160" height="46" aria-hidden="true" { (track) }
            p.status { (status) }
            h1 { (heading) }
            (text)
        }
    };
    page(heading, &html! {}, &content)
}
