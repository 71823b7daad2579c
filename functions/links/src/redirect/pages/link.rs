//! The two pages about a working link: one for people who look first, one for preview crawlers.

use domain::Timestamp;
use jiff::tz::Offset;

use super::text::{address, around_host, href, prose, segment};
use super::{Preview, page};

/// What cards show of a title before they cut it themselves.
const TITLE: usize = 120;
/// The same for a description.
const DESCRIPTION: usize = 240;
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
pub fn preview(link: &Preview) -> String {
    let content = format!(
        "<main>\n<p class=\"lead\">This short link leads to</p>\n<h1 dir=\"ltr\">{}</h1>\n{}{}{}{}\
         <div class=\"facts\">\n{}{}</div>\n{}</main>\n\
         <footer>Add <code>+</code> to any short link to see where it leads first.</footer>\n",
        host(link, link.host),
        destination(link),
        about(link),
        warnings(link),
        button(link),
        facts(link),
        qr(link),
        report(link),
    );
    page(&format!("Leads to {}", address(link.host)), "", &content)
}

/// What preview crawlers get: the destination's own words for a card, under the short link's URL. A
/// person who is taken for a crawler can still go on.
pub fn card(link: &Preview) -> String {
    let host = address(link.host);
    let title = words(link.title, TITLE).unwrap_or_else(|| host.clone());
    let description =
        words(link.description, DESCRIPTION).unwrap_or_else(|| format!("A short link to {host}"));
    let url = href(link.short_url).unwrap_or_default();
    let (size, image) =
        match link.image.filter(|image| image.starts_with("https://")).and_then(href) {
            Some(image) => ("summary_large_image", property("og:image", &image)),
            None => ("summary", String::new()),
        };
    let head = [
        format!("<link rel=\"canonical\" href=\"{url}\">\n"),
        format!("<meta name=\"description\" content=\"{description}\">\n"),
        property("og:type", "website"),
        property("og:url", &url),
        property("og:site_name", &host),
        property("og:title", &title),
        property("og:description", &description),
        image,
        format!("<meta name=\"twitter:card\" content=\"{size}\">\n"),
    ]
    .concat();
    let content = format!(
        "<main>\n<p class=\"lead\" dir=\"ltr\">{host}</p>\n<h1 dir=\"auto\">{title}</h1>\n\
         <p dir=\"auto\">{description}</p>\n{}{}{}</main>\n",
        destination(link),
        warnings(link),
        button(link),
    );
    page(&title, &head, &content)
}

fn property(name: &str, content: &str) -> String {
    format!("<meta property=\"{name}\" content=\"{content}\">\n")
}

fn words(text: Option<&str>, limit: usize) -> Option<String> {
    text.map(|text| prose(text, limit)).filter(|text| !text.is_empty())
}

/// The address in full. The host stands out, since the rest can say anything.
fn destination(link: &Preview) -> String {
    let shown = match around_host(link.destination) {
        Some((before, name, after)) => {
            format!("{}<b>{}</b>{}", address(before), host(link, name), address(after))
        }
        None => address(link.destination),
    };
    let long = link.destination.chars().count() > LONG;
    let scrolls = if long { " tabindex=\"0\"" } else { "" };
    format!("<p class=\"to\" dir=\"ltr\"{scrolls}>{shown}</p>\n")
}

/// A host's name. Where it was found to imitate another, the letters that do so are marked, since
/// they look just like the right ones.
fn host(link: &Preview, name: &str) -> String {
    if !link.warnings.iter().any(|warning| LOOKALIKE.contains(warning)) {
        return address(name);
    }
    let runs = name.as_bytes().chunk_by(|a, b| a.is_ascii() == b.is_ascii());
    let runs = runs.map(|run| (run[0].is_ascii(), address(&String::from_utf8_lossy(run))));
    runs.map(|(usual, run)| if usual { run } else { ["<mark>", &run, "</mark>"].concat() })
        .collect()
}

/// What the destination says of itself, set as a quotation: it is not the shortener's word.
fn about(link: &Preview) -> String {
    let title = words(link.title, TITLE).map(|text| format!("<b dir=\"auto\">{text}</b>"));
    let description = words(link.description, DESCRIPTION)
        .map(|text| format!("<span dir=\"auto\">{text}</span>"));
    let said: String = [title, description].into_iter().flatten().collect();
    if said.is_empty() { said } else { format!("<blockquote>{said}</blockquote>\n") }
}

fn warnings(link: &Preview) -> String {
    if link.warnings.is_empty() {
        return String::new();
    }
    let items = link.warnings.iter().map(|name| in_plain_words(name)).collect::<Vec<_>>();
    let items = items.join("</li>\n<li>");
    format!(
        "<section class=\"warn\">\n<h2>Look twice before you continue</h2>\n<ul>\n<li>{items}</li>\n\
         </ul>\n</section>\n"
    )
}

fn in_plain_words(warning: &str) -> String {
    match warning {
        "mixed-script-host" => {
            "The site’s name mixes letters of different alphabets, which is how \
             a well-known name is imitated."
                .to_owned()
        }
        "homograph-host" => "The site’s name looks like another one but is spelled with different \
             letters."
            .to_owned(),
        other => format!("A check found: {}.", prose(&other.replace(['-', '_'], " "), TITLE)),
    }
}

fn button(link: &Preview) -> String {
    let (look, label) = if link.warnings.is_empty() {
        ("go", "Continue")
    } else {
        ("go careful", "Continue anyway")
    };
    match href(link.destination) {
        Some(url) => format!(
            "<p class=\"act\"><a class=\"{look}\" rel=\"noreferrer noopener\" href=\"{url}\">\
             {label}</a></p>\n"
        ),
        None => {
            "<p>This is not the address of a web page, so there is no button to follow it.</p>\n"
                .to_owned()
        }
    }
}

fn facts(link: &Preview) -> String {
    let short = link.short_url.split_once("://").map_or(link.short_url, |(_, rest)| rest);
    let expires = link.expires.map_or_else(|| "Never".to_owned(), |at| time(at, true));
    let shared = if link.several > 1 {
        format!(
            "<div><dt>A/B test</dt><dd>Sends each visitor to one of {} destinations; this is one \
             of them.</dd></div>\n",
            link.several
        )
    } else {
        String::new()
    };
    format!(
        "<dl>\n<div><dt>Short link</dt><dd dir=\"ltr\">{}</dd></div>\n\
         <div><dt>Created</dt><dd>{}</dd></div>\n<div><dt>Expires</dt><dd>{expires}</dd></div>\n\
         {shared}</dl>\n",
        address(short),
        time(link.created, false),
    )
}

/// A date, exact to the minute where that matters; in UTC, since a page does not know its reader.
/// Not by `strftime`, which would add 36 kB to the function for one form of date.
fn time(at: Timestamp, to_the_minute: bool) -> String {
    let utc = Offset::UTC.to_datetime(at);
    let month = usize::try_from(utc.month() - 1).map_or("", |index| MONTHS[index % 12]);
    let date = format!("{} {month} {}", utc.day(), utc.year());
    if to_the_minute {
        let (hour, minute) = (utc.hour(), utc.minute());
        format!("<time datetime=\"{at}\">{date}, {hour:02}:{minute:02} UTC</time>")
    } else {
        format!("<time datetime=\"{at}\">{date}</time>")
    }
}

fn qr(link: &Preview) -> String {
    format!(
        "<figure><img src=\"/qr/{}.svg\" alt=\"QR code of {}\" width=\"132\" height=\"132\">\
         <figcaption>Scan to open elsewhere</figcaption></figure>\n",
        segment(code(link)),
        address(link.short_url),
    )
}

fn report(link: &Preview) -> String {
    format!(
        "<details>\n<summary>Report this link</summary>\n<p>If it leads to fraud, malware or \
         spam, send <code>POST /api/v1/url/{}/report</code> to this site. Reports are read by \
         people, who can disable the link.</p>\n</details>\n",
        segment(code(link)),
    )
}

/// The last part of the short link's path.
fn code<'a>(link: &Preview<'a>) -> &'a str {
    link.short_url.rsplit('/').next().unwrap_or_default()
}
