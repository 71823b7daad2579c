//! The file we write, which is the one we read best.

use super::LinkRecord;
use super::cell::{escape_formula, join};

/// The columns of our own CSV, in order.
pub const HEADER: [&str; 14] = [
    "code",
    "url",
    "domain",
    "note",
    "tags",
    "createdAt",
    "expiresAt",
    "maxClicks",
    "fallback",
    "redirect",
    "clicks",
    "variants",
    "forwardQuery",
    "utm",
];

/// The first line of our own CSV, its end included. A file is this and then any number of
/// [`write_csv`]s.
pub fn csv_header() -> String {
    line(&HEADER.map(str::to_owned))
}

/// The lines of `records`. Read again they are the same but for `line`, and but for texts that are
/// there and empty, which come back as none.
///
/// Lists are parted by `|`, a variant is its weight, a space and its URL, a campaign parameter its
/// name, `=` and its value, and a text that a spreadsheet would run as a formula stands behind an
/// apostrophe.
pub fn write_csv<'a>(records: impl Iterator<Item = &'a LinkRecord>) -> String {
    records.map(|record| line(&cells(record))).collect()
}

fn cells(record: &LinkRecord) -> [String; 14] {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let variants = record.variants.iter().map(|(url, weight)| format!("{weight} {url}"));
    let utm = record.utm.iter().map(|(name, value)| format!("{name}={value}"));
    [
        text(&record.code),
        record.url.clone(),
        text(&record.domain),
        text(&record.note),
        join(record.tags.iter().cloned()),
        record.created_at.map(|time| time.to_string()).unwrap_or_default(),
        record.expires_at.map(|time| time.to_string()).unwrap_or_default(),
        record.max_clicks.map(|clicks| clicks.to_string()).unwrap_or_default(),
        text(&record.fallback),
        record.redirect.map(|status| status.to_string()).unwrap_or_default(),
        record.clicks.map(|clicks| clicks.to_string()).unwrap_or_default(),
        join(variants),
        record.forward_query.to_string(),
        join(utm),
    ]
    .map(escape_formula)
}

/// Cells as RFC 4180 has them. A cell is quoted where it must be and nowhere else.
fn line(cells: &[String]) -> String {
    let quoted = cells.iter().map(|cell| {
        if cell.contains(['"', ',', ';', '\t', '\r', '\n']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.clone()
        }
    });
    quoted.collect::<Vec<_>>().join(",") + "\r\n"
}
