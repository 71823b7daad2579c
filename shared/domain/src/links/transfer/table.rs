//! A body as rows of named cells, not yet interpreted.

pub(super) mod json;

use std::borrow::Cow;
use std::io::Read as _;
use std::rc::Rc;

use csv::ByteRecord;

use super::cell::unescape_formula;
use super::columns::{Columns, normalized};
use super::{BadRecord, HEADER, ImportError, ImportSource};

/// What stands under a name.
#[derive(Debug)]
pub(super) enum Cell {
    Text(String),
    /// Only JSON has these.
    List(Vec<String>),
}

/// Cells that are not empty, by the plain form of their names.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) line: usize,
    cells: Vec<(Rc<str>, Cell)>,
}

impl Row {
    /// The first of `names` that has a cell here, and the cell.
    pub(super) fn cell(&self, names: &[&'static str]) -> Option<(&'static str, &Cell)> {
        names.iter().find_map(|name| {
            let sought = normalized(name);
            let (_, cell) = self.cells.iter().find(|(known, _)| **known == *sought)?;
            Some((*name, cell))
        })
    }

    /// The same, as text; a list's first item speaks for it.
    pub(super) fn text(&self, names: &[&'static str]) -> Option<(&'static str, &str)> {
        let (name, cell) = self.cell(names)?;
        match cell {
            Cell::Text(text) => Some((name, text)),
            Cell::List(items) => items.first().map(|first| (name, first.as_str())),
        }
    }
}

/// Follows the body through the reader. If the last record is not this alone, a quote was still open
/// where the body ended, which the reader itself lets pass.
const END: &str = "\n\u{0}end";

/// The rows of a CSV body under its header.
pub(super) fn rows(
    source: ImportSource,
    columns: &Columns,
    text: &str,
) -> Result<Vec<Result<Row, BadRecord>>, ImportError> {
    let reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter(text))
        .from_reader(text.as_bytes().chain(END.as_bytes()));
    // Reading memory does not fail, and records of bytes are not checked for anything.
    let mut records: Vec<_> = reader.into_byte_records().map_while(Result::ok).collect();
    let mut lines = Lines { text: text.as_bytes(), at: 0, line: 1 };
    if let Some(last) = records.pop().filter(|last| *last != vec![END.trim_start()]) {
        return Err(ImportError::OpenQuote { line: lines.line_of(&last) });
    }
    let mut records = records.iter();
    let names = header(source, columns, &cells(records.next().ok_or(ImportError::Empty)?))?;
    Ok(records.filter_map(|each| row(columns, &names, &cells(each), lines.line_of(each))).collect())
}

/// The body is UTF-8 and cells are cut at ASCII, so nothing is replaced here.
fn cells(record: &ByteRecord) -> Vec<Cow<'_, str>> {
    record.iter().map(String::from_utf8_lossy).collect()
}

/// The plain names of the header's columns.
fn header(
    source: ImportSource,
    columns: &Columns,
    cells: &[Cow<'_, str>],
) -> Result<Vec<Rc<str>>, ImportError> {
    let names: Vec<Rc<str>> = cells.iter().map(|cell| normalized(cell).into()).collect();
    let code = [columns.code, columns.short].concat();
    // Our own file may leave codes to us; an export without them is one we don't understand.
    let needed = if source == ImportSource::Csv { vec![] } else { vec![code] };
    for wanted in [vec![columns.url.to_vec()], needed].concat() {
        if !wanted.iter().any(|name| names.contains(&normalized(name).into())) {
            return Err(ImportError::NoColumn { wanted });
        }
    }
    let known: Vec<_> = HEADER.iter().map(|name| normalized(name)).collect();
    for (at, name) in names.iter().enumerate().filter(|_| source == ImportSource::Csv) {
        if !known.iter().any(|known| **known == **name) || names[..at].contains(name) {
            return Err(ImportError::StrayColumn { name: cells[at].to_string() });
        }
    }
    Ok(names)
}

/// The row, or what is wrong with its shape; nothing if all of it is empty.
fn row(
    columns: &Columns,
    names: &[Rc<str>],
    cells: &[Cow<'_, str>],
    line: usize,
) -> Option<Result<Row, BadRecord>> {
    let clean = |cell| if columns.is_own { Some(unescape_formula(cell)) } else { non_null(cell) };
    let cells: Vec<_> = cells.iter().map(|cell| clean(cell).unwrap_or_default()).collect();
    if cells.iter().all(|cell| cell.is_empty()) {
        return None;
    }
    if cells.len() != names.len() {
        let (found, wanted) = (cells.len(), names.len());
        let problem = format!("it has {found} cells where the header has {wanted}");
        return Some(Err(BadRecord { line, problem }));
    }
    let filled = names.iter().zip(cells).filter(|(_, cell)| !cell.is_empty());
    let cells = filled.map(|(name, cell)| (Rc::clone(name), Cell::Text(cell.to_owned()))).collect();
    Some(Ok(Row { line, cells }))
}

/// The text of a cell, if any: databases export null as `NULL` or `\N`.
fn non_null(cell: &str) -> Option<&str> {
    Some(cell.trim()).filter(|cell| !matches!(*cell, "" | "NULL" | "null" | r"\N"))
}

/// Whichever of comma, semicolon and tab the first line has most of.
fn delimiter(text: &str) -> u8 {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let count = |delimiter: &u8| first.bytes().filter(|byte| byte == delimiter).count();
    // Of equals the last is taken.
    [b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b',')
}

/// Which line a byte is on. The reader has a count of its own, but a record's stops short of the
/// line ends that come before it.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl Lines<'_> {
    /// The line that `record` begins on. Only ever asked further on.
    fn line_of(&mut self, record: &ByteRecord) -> usize {
        let start = record.position().and_then(|position| usize::try_from(position.byte()).ok());
        let start = start.unwrap_or_default();
        while let Some(letter) = self.text.get(self.at) {
            if self.at >= start && !matches!(letter, b'\r' | b'\n') {
                break;
            }
            let next = self.text.get(self.at + 1);
            let ends = *letter == b'\n' || *letter == b'\r' && next != Some(&b'\n');
            self.line += usize::from(ends);
            self.at += 1;
        }
        self.line
    }
}
