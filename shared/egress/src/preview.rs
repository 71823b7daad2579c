//! What a page says about itself: its title, its description, its picture, its site.
//!
//! Guarantee: the texts are plain, on one line, capped and free of control characters, those that
//! turn the reading direction around included; the picture is an absolute https URL whose host is
//! not a private address. They are still a stranger's words: the page that shows them escapes them.
//! Absent: encodings other than UTF-8, whose bytes show as replacement characters.

use std::net::IpAddr;

use domain::links::public_ip::is_public;
use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use url::{Host, Url};

use crate::FetchedPage;

const MAX_TITLE: usize = 200;
const MAX_DESCRIPTION: usize = 400;
const MAX_SITE_NAME: usize = 100;
const MAX_IMAGE_URL: usize = 2_048;

/// What can be shown of a page before it is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PagePreview {
    /// At most 200 characters.
    pub title: Option<String>,
    /// At most 400 characters.
    pub description: Option<String>,
    /// An absolute https URL of at most 2,048 characters.
    pub image: Option<String>,
    /// At most 100 characters.
    pub site_name: Option<String>,
}

impl PagePreview {
    /// Empty unless the page is HTML.
    pub fn from_page(page: &FetchedPage) -> Self {
        if !is_html(page.content_type.as_deref()) {
            return Self::default();
        }
        let tags = HeadTags::parse(&page.body);
        let meta = |names: &[&str], max: usize| {
            names.iter().flat_map(|name| tags.metas(name)).find_map(|text| single_line(text, max))
        };
        Self {
            title: meta(&["og:title", "twitter:title"], MAX_TITLE)
                .or_else(|| single_line(&tags.title, MAX_TITLE)),
            description: meta(
                &["og:description", "twitter:description", "description"],
                MAX_DESCRIPTION,
            ),
            image: IMAGES.iter().flat_map(|name| tags.metas(name)).find_map(image_url),
            site_name: meta(&["og:site_name", "application-name"], MAX_SITE_NAME),
        }
    }
}

const IMAGES: [&str; 5] =
    ["og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src"];

/// A page that does not say what it is counts as HTML, as it would in a browser.
fn is_html(content_type: Option<&str>) -> bool {
    let essence = content_type.unwrap_or("text/html").split(';').next().unwrap_or_default();
    ["text/html", "application/xhtml+xml"].contains(&essence.trim().to_ascii_lowercase().as_str())
}

#[derive(Default)]
struct HeadTags {
    title: String,
    /// Names in lower case, in the page's order.
    metas: Vec<(String, String)>,
}

impl HeadTags {
    /// Reads all tags: some pages have their metadata in the body. A title counts only before the body
    /// and before any drawing, for drawings have titles of their own.
    fn parse(html: &[u8]) -> Self {
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        let mut tags = Self::default();
        let (mut in_title, mut in_head) = (false, true);
        for token in Tokenizer::new_with_emitter(html, emitter) {
            let Ok(token) = token;
            match token {
                Token::StartTag(tag) => {
                    let name = tag.name.as_slice();
                    in_head &= !matches!(name, b"body" | b"svg");
                    in_title = in_head && name == b"title" && tags.title.trim().is_empty();
                    if name == b"meta" {
                        tags.metas.extend(meta(&tag));
                    }
                }
                Token::String(text) if in_title => {
                    tags.title.push_str(&String::from_utf8_lossy(&text));
                }
                Token::EndTag(_) => in_title = false,
                Token::String(_) | Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
            }
        }
        tags
    }

    fn metas(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.metas.iter().filter(move |(found, _)| found == name);
        named.map(|(_, content)| content.as_str())
    }
}

/// Open Graph says `property`, the rest say `name`, and pages mix them up.
fn meta(tag: &StartTag<()>) -> Option<(String, String)> {
    let attribute = |name: &[u8]| tag.attributes.get(name).map(|value| lossy(value));
    let name = attribute(b"property").or_else(|| attribute(b"name"))?;
    Some((name.trim().to_ascii_lowercase(), attribute(b"content")?))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// One clean line of at most `max` characters, if anything is left of it.
fn single_line(text: &str, max: usize) -> Option<String> {
    let words = text.split_whitespace().map(|word| {
        let shown = word.chars().filter(|&char| !char.is_control() && !turns_direction(char));
        shown.collect::<String>()
    });
    let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    let capped: String = words.join(" ").chars().take(max).collect();
    let capped = capped.trim_end();
    (!capped.is_empty()).then(|| capped.to_owned())
}

/// Marks, embeddings, overrides and isolates: they can make a text read as another.
fn turns_direction(char: char) -> bool {
    let marks = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{feff}'];
    marks.contains(&char) || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Readers' browsers will load it, so it must not lead into their own networks.
fn image_url(address: &str) -> Option<String> {
    let url = Url::parse(address.trim()).ok().filter(|url| url.scheme() == "https")?;
    let private = match url.host()? {
        Host::Domain(_) => false,
        Host::Ipv4(address) => !is_public(IpAddr::V4(address)),
        Host::Ipv6(address) => !is_public(IpAddr::V6(address)),
    };
    let bare = url.username().is_empty() && url.password().is_none();
    (!private && bare && url.as_str().len() <= MAX_IMAGE_URL).then(|| url.into())
}

#[cfg(test)]
mod tests;
