//! The two pages about a working link: the preview for people, the card for preview crawlers.

use domain::Timestamp;
use jiff::tz::Offset;
use maud::{Markup, html};

use super::text::{one_line, path_segment, split_at_host, visible, web_url};
use super::{LinkSummary, page};

/// The characters that cards show of a title before they cut it themselves.
const MAX_TITLE: usize = 120;
/// The same for a description.
const MAX_DESCRIPTION: usize = 240;
/// Destinations of more characters scroll in their box, so that the button stays within reach.
const LONG: usize = 320;
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// The warnings about a host that is spelled to be mistaken for another.
const LOOKALIKE: [&str; 2] = ["mixed-script-host", "homograph-host"];

/// `/{code}+`: where the link leads, before going there. The button goes to the destination that is
/// shown, and not through the link again, which might choose another.
pub fn preview(link: &LinkSummary) -> String {
    let content = html! {
        main {
            p.lead { "This short link leads to" }
            h1 dir="ltr" { (host(link, link.host)) }
            (destination(link))
            (quotation(link))
            (warnings(link))
            (button(link))
            div.facts { (facts(link)) (qr(link)) }
            (report(link))
        }
        footer { "Add " code { "+" } " to any short link to see where it leads first." }
    };
    page(&format!("Leads to {}", visible(link.host)), &html! {}, &content)
}

/// What preview crawlers get: the destination's own words for a card, under the short link's URL. A
/// person who is taken for a crawler can still go on.
pub fn card(link: &LinkSummary) -> String {
    let host = visible(link.host);
    let title = words(link.title, MAX_TITLE).unwrap_or_else(|| host.clone());
    let description = words(link.description, MAX_DESCRIPTION);
    let description = description.unwrap_or_else(|| format!("A short link to {host}"));
    let url = web_url(link.short_url).unwrap_or_default();
    let image = link.image.filter(|image| image.starts_with("https://")).and_then(web_url);
    let size = if image.is_some() { "summary_large_image" } else { "summary" };
    let head = html! {
        link rel="canonical" href=(url);
        meta name="description" content=(description);
        meta property="og:type" content="website";
        meta property="og:url" content=(url);
        meta property="og:site_name" content=(host);
        meta property="og:title" content=(title);
        meta property="og:description" content=(description);
        @if let Some(image) = image { meta property="og:image" content=(image); }
        meta name="twitter:card" content=(size);
    };
    let content = html! {
        main {
            p.lead dir="ltr" { (host) }
            h1 dir="auto" { (title) }
            p dir="auto" { (description) }
            (destination(link))
            (warnings(link))
            (button(link))
        }
    };
    page(&title, &head, &content)
}

fn words(text: Option<&str>, limit: usize) -> Option<String> {
    text.map(|text| one_line(text, limit)).filter(|text| !text.is_empty())
}

/// The URL in full. The host stands out, since the rest can say anything.
fn destination(link: &LinkSummary) -> Markup {
    let scrolls = link.destination.chars().count() > LONG;
    html! {
        p.to dir="ltr" tabindex=[scrolls.then_some("0")] {
            @if let Some((before, name, after)) = split_at_host(link.destination) {
                (visible(before)) b { (host(link, name)) } (visible(after))
            } @else {
                (visible(link.destination))
            }
        }
    }
}

/// A host's name. Where it was found to imitate another, the letters that do so are marked, since
/// they look just like the right ones.
fn host(link: &LinkSummary, name: &str) -> Markup {
    let imitates = link.warnings.iter().any(|warning| LOOKALIKE.contains(warning));
    html! {
        @for run in name.as_bytes().chunk_by(|a, b| a.is_ascii() == b.is_ascii()) {
            @let text = visible(&String::from_utf8_lossy(run));
            @if imitates && !run.is_ascii() { mark { (text) } } @else { (text) }
        }
    }
}

/// The destination's own title and description, as a quotation: they are not the shortener's words.
fn quotation(link: &LinkSummary) -> Markup {
    let title = words(link.title, MAX_TITLE);
    let description = words(link.description, MAX_DESCRIPTION);
    html! {
        @if title.is_some() || description.is_some() {
            blockquote {
                @if let Some(title) = title { b dir="auto" { (title) } }
                @if let Some(description) = description { span dir="auto" { (description) } }
            }
        }
    }
}

fn warnings(link: &LinkSummary) -> Markup {
    html! {
        @if !link.warnings.is_empty() {
            section.warn {
                h2 { "Look twice before you continue" }
                ul { @for warning in link.warnings { li { (explained(warning)) } } }
            }
        }
    }
}

fn explained(warning: &str) -> String {
    match warning {
        "mixed-script-host" => {
            "The site’s name mixes letters of different alphabets, which is how \
             a well-known name is imitated."
                .to_owned()
        }
        "homograph-host" => "The site’s name looks like another one but is spelled with different \
             letters."
            .to_owned(),
        other => {
            format!("A check found: {}.", one_line(&other.replace(['-', '_'], " "), MAX_TITLE))
        }
    }
}

fn button(link: &LinkSummary) -> Markup {
    let (class, label) = if link.warnings.is_empty() {
        ("go", "Continue")
    } else {
        ("go careful", "Continue anyway")
    };
    html! {
        @if let Some(url) = web_url(link.destination) {
            p.act { a class=(class) rel="noreferrer noopener" href=(url) { (label) } }
        } @else {
            p { "This is not the address of a web page, so there is no button to follow it." }
        }
    }
}

fn facts(link: &LinkSummary) -> Markup {
    let short = link.short_url.split_once("://").map_or(link.short_url, |(_, rest)| rest);
    html! {
        dl {
            div { dt { "Short link" } dd dir="ltr" { (visible(short)) } }
            div { dt { "Created" } dd { (time(link.created, false)) } }
            div {
                dt { "Expires" }
                dd { @if let Some(at) = link.expires { (time(at, true)) } @else { "Never" } }
            }
            @if link.destinations > 1 {
                div {
                    dt { "A/B test" }
                    dd {
                        "Sends each visitor to one of " (link.destinations)
                        " destinations; this is one of them."
                    }
                }
            }
        }
    }
}

/// A date, exact to the minute where that matters; in UTC, since a page does not know its reader.
/// Not by `strftime`, which would add 36 kB to the function for one form of date.
fn time(at: Timestamp, to_the_minute: bool) -> Markup {
    let utc = Offset::UTC.to_datetime(at);
    let month = usize::try_from(utc.month() - 1).map_or("", |index| MONTHS[index % 12]);
    let mut text = format!("{} {month} {}", utc.day(), utc.year());
    if to_the_minute {
        text = format!("{text}, {:02}:{:02} UTC", utc.hour(), utc.minute());
    }
    html! { time datetime=(at.to_string()) { (text) } }
}

fn qr(link: &LinkSummary) -> Markup {
    let source = format!("/qr/{}.svg", path_segment(code(link)));
    let label = format!("QR code of {}", visible(link.short_url));
    html! {
        figure {
            img src=(source) alt=(label) width="132" height="132";
            figcaption { "Scan to open elsewhere" }
        }
    }
}

fn report(link: &LinkSummary) -> Markup {
    html! {
        details {
            summary { "Report this link" }
            p {
                "If it leads to fraud, malware or spam, send "
                code { "POST /api/v1/url/" (path_segment(code(link))) "/report" }
                " to this site. Reports are read by people, who can disable the link."
            }
        }
    }
}

/// The last part of the short link's path.
fn code<'a>(link: &LinkSummary<'a>) -> &'a str {
    link.short_url.rsplit('/').next().unwrap_or_default()
}
