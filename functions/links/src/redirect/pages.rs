//! The pages a short link answers with when it does not simply send its visitor on.
//!
//! Guarantee: nothing that a caller passes in reaches a page unescaped, and a page fetches nothing
//! but the link's own QR code. Absent, on purpose: scripts, `style` attributes, fonts, forms and
//! anything from another host, so that the strictest Content-Security-Policy holds.

mod link;
mod notice;
mod text;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::Timestamp;
use sha2::{Digest as _, Sha256};

pub use link::{card, preview};
pub use notice::{blocked, expired, missing, unavailable};

/// The one stylesheet, inline in every page.
pub const STYLE: &str = include_str!("pages/style.css");

/// The hash that lets [`STYLE`] through: `style-src 'sha256-{style_hash()}'`.
pub fn style_hash() -> String {
    hash(STYLE)
}

/// What is known about a link before anyone follows it.
#[derive(Debug, Clone, Copy)]
pub struct Preview<'a> {
    /// The link itself, with scheme and host.
    pub short_url: &'a str,
    /// Where it leads.
    pub destination: &'a str,
    /// The destination's host, as a person should read it.
    pub host: &'a str,
    /// When the link was made.
    pub created: Timestamp,
    /// When it stops working.
    pub expires: Option<Timestamp>,
    /// What the destination calls itself.
    pub title: Option<&'a str>,
    /// What the destination says about itself.
    pub description: Option<&'a str>,
    /// The picture the destination shows of itself; named to crawlers, never loaded here.
    pub image: Option<&'a str>,
    /// The names of the checks that the destination did not pass cleanly.
    pub warnings: &'a [&'a str],
    /// How many destinations share the visits; 1 unless the link is an A/B test.
    pub several: usize,
}

/// The mark of the API reference: one track that becomes three.
const LOGO: &str = "<svg class=\"logo\" viewBox=\"0 0 24 24\" width=\"24\" height=\"24\" \
     aria-hidden=\"true\"><path d=\"M2 12h20M7 12c4 0 4-7 8-7h7M7 12c4 0 4 7 8 7h7\"/>\
     <circle cx=\"7\" cy=\"12\" r=\"2.5\"/></svg>";

/// The frame of every page; all three parts are HTML already. No page is worth a search result.
fn page(title: &str, head: &str, content: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"robots\" content=\"noindex, nofollow\">\n\
         <title>{title}</title>\n{head}<style>{STYLE}</style>\n</head>\n<body>\n\
         <header>{LOGO}<b>Switchyard</b></header>\n{content}</body>\n</html>\n"
    )
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests;
