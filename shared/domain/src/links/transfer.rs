//! Import of links from other shorteners' files, and export to a CSV that imports unchanged.
//!
//! The invariants, as absences:
//!
//! - No body makes [`read_links`] panic, and no bad record hides the good ones beside it.
//! - No record is read from a file whose columns were not recognised: a link is never given a new
//!   code because its old one stood under a name we didn't know.
//! - No link that was guarded elsewhere (by a password, by a ban) comes in without its guard.
//! - No cell we write is a formula to a spreadsheet.
//!
//! Absent: whether a code is free, a URL allowed or a domain one's own. That is for the rules that
//! every new link meets.

mod cell;
mod columns;
mod csv_export;
mod record;
mod table;

pub use csv_export::{HEADER, csv_header, write_csv};

use crate::Timestamp;

/// The format of an import: which shortener wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportSource {
    /// Bitly's CSV, or the JSON of its API.
    Bitly,
    /// The CSV of YOURLS' export plugins or its table, or the JSON of its API.
    Yourls,
    /// The CSV of Shlink's web client, or the JSON of its API.
    Shlink,
    /// Kutt's table as CSV, or the JSON of its API.
    Kutt,
    /// Our own, as [`write_csv`] writes it.
    Csv,
}

impl ImportSource {
    /// Every source, in the order it is listed to people.
    pub const ALL: [Self; 5] = [Self::Bitly, Self::Yourls, Self::Shlink, Self::Kutt, Self::Csv];

    /// The source's name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bitly => "bitly",
            Self::Yourls => "yourls",
            Self::Shlink => "shlink",
            Self::Kutt => "kutt",
            Self::Csv => "csv",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }
}

/// A link in an import or export file. Nothing but its form has been checked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkRecord {
    /// The line it begins on, or its place in a JSON list; both count from 1.
    pub line: usize,
    /// The code; none if the file leaves it to us.
    pub code: Option<String>,
    /// Where the link leads.
    pub url: String,
    /// The domain it is under; none for the default one.
    pub domain: Option<String>,
    /// What its owner noted, or the title it was given.
    pub note: Option<String>,
    /// Its tags, none of them empty.
    pub tags: Vec<String>,
    /// When it was made.
    pub created_at: Option<Timestamp>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// How many clicks it lasts for.
    pub max_clicks: Option<u64>,
    /// Where it leads once it has ended.
    pub fallback: Option<String>,
    /// The status it redirects with.
    pub redirect: Option<u16>,
    /// How often it was clicked.
    pub clicks: Option<u64>,
    /// Other destinations and their weights.
    pub variants: Vec<(String, u32)>,
    /// Whether a visitor's query is passed on.
    pub forward_query: bool,
    /// Campaign parameters, by their names without `utm_`.
    pub utm: Vec<(String, String)>,
}

/// Why a whole body can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Nothing in it.
    #[error("the body is empty")]
    Empty,
    /// Not text as we know it.
    #[error("the body must be UTF-8; it is not from byte {at} on")]
    NotUtf8 {
        /// How many bytes are.
        at: usize,
    },
    /// None of the names that a column goes by.
    #[error("the header must name a column `{}`", .wanted.join("` or `"))]
    NoColumn {
        /// The names it may have; case, spaces and punctuation don't matter.
        wanted: Vec<&'static str>,
    },
    /// In our own format, a column that would be lost in silence.
    #[error("the header names `{name}`, which is not one of `{}`, each once", HEADER.join("`, `"))]
    StrayColumn {
        /// The column, as the header spells it.
        name: String,
    },
    /// A quote that never closes swallows what follows, so where the records part is unknown.
    #[error("a quote opened in the record at line {line} is never closed")]
    OpenQuote {
        /// The line that the record begins on.
        line: usize,
    },
    /// Begins like JSON and isn't.
    #[error("the JSON is broken at line {line}")]
    BrokenJson {
        /// The line that can't be read.
        line: usize,
    },
    /// JSON without links where the source's API has them.
    #[error("the JSON holds no list of links")]
    NoList,
}

/// A record that can't be taken in as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct BadRecord {
    /// The line it begins on, or its place in a JSON list; both count from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

/// The records of `body`, in its order. Rows of nothing but empty cells are left out.
pub fn read_links(
    source: ImportSource,
    body: &[u8],
) -> Result<Vec<Result<LinkRecord, BadRecord>>, ImportError> {
    let text = std::str::from_utf8(body)
        .map_err(|error| ImportError::NotUtf8 { at: error.valid_up_to() })?;
    // Spreadsheets mark UTF-8 with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let columns = columns::columns_of(source);
    let rows = match text.trim_start().chars().next() {
        None => return Err(ImportError::Empty),
        Some('[' | '{') if source != ImportSource::Csv => table::json::rows(text)?,
        Some(_) => table::rows(source, columns, text)?,
    };
    let read = |row: Result<table::Row, BadRecord>| row.and_then(|row| record::read(columns, &row));
    Ok(rows.into_iter().map(read).collect())
}

#[cfg(test)]
mod tests;
