//! The HTML pages of a short link: preview, card, and the notices for links that can't be followed.
//!
//! Guarantee: the templates escape all text, and a page fetches nothing but the link's own QR code. Absent, on purpose: scripts, `style` attributes, fonts, forms and
//! anything from another host, so that the strictest Content-Security-Policy holds.

mod link;
mod notice;
mod text;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::Timestamp;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

pub use link::{card, preview};
pub use notice::{blocked, expired, not_found, unavailable};

/// The one stylesheet, inline in every page.
pub const STYLE: &str = include_str!("pages/style.css");

/// The hash that lets [`STYLE`] through: `style-src 'sha256-{style_hash()}'`.
pub fn style_hash() -> String {
    hash(STYLE)
}

/// The link that a page is about.
#[derive(Debug, Clone, Copy)]
pub struct LinkSummary<'a> {
    /// With scheme and host.
    pub short_url: &'a str,
    pub destination: &'a str,
    /// The destination's host, as a person should read it.
    pub host: &'a str,
    pub created: Timestamp,
    pub expires: Option<Timestamp>,
    /// The destination's own title.
    pub title: Option<&'a str>,
    pub description: Option<&'a str>,
    /// The URL of the destination's picture; named to crawlers, never loaded here.
    pub image: Option<&'a str>,
    /// The names of the checks that the destination did not pass.
    pub warnings: &'a [&'a str],
    /// How many destinations share the visits; 1 unless the link is an A/B test.
    pub destinations: usize,
}

/// The frame of every page. No page is worth a search result.
fn page(title: &str, head: &Markup, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex, nofollow";
                title { (title) }
                (head)
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    // The logo of the API reference: one track that becomes three.
                    svg.logo viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" {
                        path d="M2 12h20M7 12c4 0 4-7 8-7h7M7 12c4 0 4 7 8 7h7" {}
                        circle cx="7" cy="12" r="2.5" {}
                    }
                    b { "Switchyard" }
                }
                (content)
            }
        }
    };
    page.into_string()
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests;
