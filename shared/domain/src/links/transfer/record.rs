//! A row's cells as a record.

use super::cell::{flag, short, split, time};
use super::columns::{Columns, Names};
use super::table::{Cell, Row};
use super::{BadRecord, LinkRecord};
use crate::Timestamp;

const TIME: &str = "a time, like 2026-01-31T12:00:00Z";
const VARIANTS: &str = "weights and URLs, like 70 https://a.example|30 https://b.example";
const UTM: &str = "names and values, like source=mail|medium=footer";

/// The record in `row`, whose cells `columns` names.
pub(super) fn read(columns: &Columns, row: &Row) -> Result<LinkRecord, BadRecord> {
    let bad = |problem: String| BadRecord { line: row.line, problem };
    if let Some((name, why)) = columns.guards.iter().find(|(name, _)| is_set(row, name)) {
        return Err(bad(format!("`{name}`: {why}")));
    }
    let (domain, code) = domain_and_code(columns, row).map_err(bad)?;
    let text = |names: Names| row.text(names).map(|(_, text)| text.to_owned());
    let Some(url) = text(columns.url) else { return Err(bad("it leads nowhere".to_owned())) };
    let record = LinkRecord {
        line: row.line,
        code,
        url,
        domain,
        note: text(columns.note),
        tags: tags(columns, row),
        created_at: creation_time(row, columns.created_at).map_err(bad)?,
        expires_at: parsed(row, columns.expires_at, TIME, time).map_err(bad)?,
        max_clicks: count(row, columns.max_clicks).map_err(bad)?,
        fallback: text(columns.fallback),
        redirect: parsed(row, columns.redirect, "a status, like 302", number).map_err(bad)?,
        clicks: count(row, columns.clicks).map_err(bad)?,
        variants: parsed(row, columns.variants, VARIANTS, variants)
            .map_err(bad)?
            .unwrap_or_default(),
        forward_query: parsed(row, columns.forward_query, "true or false", flag)
            .map_err(bad)?
            .unwrap_or_default(),
        utm: parsed(row, columns.utm, UTM, utm).map_err(bad)?.unwrap_or_default(),
    };
    Ok(record)
}

/// A column with anything but a no in it: a password's hash is a yes.
fn is_set(row: &Row, name: &'static str) -> bool {
    row.text(&[name]).is_some_and(|(_, text)| flag(text) != Some(false))
}

/// Domain and code, from columns of their own or from the short link.
fn domain_and_code(
    columns: &Columns,
    row: &Row,
) -> Result<(Option<String>, Option<String>), String> {
    let own = |domain: &String| !columns.source_domains.contains(&domain.as_str());
    let domain = row.text(columns.domain).map(|(_, domain)| domain.to_owned()).filter(own);
    let bare = |code| if columns.is_own { code } else { str::trim_matches(code, '/') };
    let code = row.text(columns.code).map(|(_, code)| bare(code)).filter(|code| !code.is_empty());
    if let Some(code) = code {
        return Ok((domain, Some(code.to_owned())));
    }
    let Some((name, link)) = row.text(columns.short) else {
        // Printed codes lead nowhere if the link comes in under a new one.
        return if columns.is_own { Ok((domain, None)) } else { Err("it has no code".to_owned()) };
    };
    let (host, code) = short(link).ok_or_else(|| must_be(name, "a short link with its code"))?;
    Ok((domain.or(host.filter(own)), Some(code)))
}

fn tags(columns: &Columns, row: &Row) -> Vec<String> {
    match row.cell(columns.tags) {
        None => Vec::new(),
        Some((_, Cell::List(tags))) => tags.clone(),
        Some((_, Cell::Text(text))) if columns.is_own => split(text),
        Some((_, Cell::Text(text))) => {
            let tags = text.split([',', ';', '|']).map(|tag| tag.trim().to_owned());
            tags.filter(|tag| !tag.is_empty()).collect()
        }
    }
}

/// When a link was made. `MySQL` writes a date it doesn't know as zeros.
fn creation_time(row: &Row, names: Names) -> Result<Option<Timestamp>, String> {
    if row.text(names).is_some_and(|(_, text)| text.starts_with("0000-00-00")) {
        return Ok(None);
    }
    parsed(row, names, TIME, time)
}

fn count(row: &Row, names: Names) -> Result<Option<u64>, String> {
    parsed(row, names, "a whole number", number)
}

fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.trim().parse().ok()
}

fn variants(text: &str) -> Option<Vec<(String, u32)>> {
    let pair = |item: String| {
        let (weight, url) = item.split_once(' ')?;
        Some((url.to_owned(), weight.parse().ok()?))
    };
    split(text).into_iter().map(pair).collect()
}

fn utm(text: &str) -> Option<Vec<(String, String)>> {
    let pair = |item: String| {
        let (name, value) = item.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    };
    split(text).into_iter().map(pair).collect()
}

/// What `parse` makes of the cell; nothing of an empty one.
fn parsed<T>(
    row: &Row,
    names: Names,
    rule: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, String> {
    let Some((name, text)) = row.text(names) else { return Ok(None) };
    parse(text).map(Some).ok_or_else(|| must_be(name, rule))
}

fn must_be(name: &str, rule: &str) -> String {
    format!("`{name}` must be {rule}")
}
