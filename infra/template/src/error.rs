//! What is wrong with a template, and where: every error points at a line of the file.

use std::path::{Path, PathBuf};

pub(crate) type Result<T = (), E = TemplateError> = std::result::Result<T, E>;

/// A mistake in a template. Its text reads `file:line:column: property path: reason`, a form that
/// terminals and editors turn into a link.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}:{column}: {}{reason}", file.display(), prefix(path))]
pub struct TemplateError {
    /// The template, as it was named by the caller.
    pub file: PathBuf,
    /// The line of the mistake, counted from 1.
    pub line: usize,
    /// The column of the mistake, counted from 1.
    pub column: usize,
    /// The property the mistake is in, such as `Resources.Ids.Properties.Timeout`; empty when the
    /// whole file is meant.
    pub path: String,
    /// What is wrong, and where possible what was meant.
    pub reason: String,
}

/// A place in the file, both numbers counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Mark {
    /// Where errors point that concern no line in particular.
    pub(crate) const START: Self = Self { line: 1, column: 1 };
}

impl TemplateError {
    /// The file is filled in by [`TemplateError::in_file`], where it is known.
    pub(crate) fn new(mark: Mark, path: &str, reason: impl Into<String>) -> Self {
        Self {
            file: PathBuf::new(),
            line: mark.line,
            column: mark.column,
            path: path.to_owned(),
            reason: reason.into(),
        }
    }

    /// Names the file, unless it is already: a mistake in a nested template stays that template's
    /// when the error passes through the one around it.
    pub(crate) fn in_file(mut self, file: &Path) -> Self {
        if self.file.as_os_str().is_empty() {
            file.clone_into(&mut self.file);
        }
        self
    }
}

fn prefix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}
