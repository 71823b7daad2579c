//! Where a template comes from, and which templates it is nested in.

use std::io;
use std::path::{Component, Path, PathBuf};

/// Gives the text of a file.
pub(crate) type Files<'a> = dyn Fn(&Path) -> io::Result<String> + 'a;

/// A template's file.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a Path,
    /// The template that nests this one.
    pub(crate) parent: Option<&'a Source<'a>>,
    pub(crate) files: &'a Files<'a>,
}

impl Source<'_> {
    /// The file that this one calls `location`.
    pub(crate) fn sibling(&self, location: &str) -> PathBuf {
        self.file.parent().unwrap_or_else(|| Path::new("")).join(location)
    }

    /// Whether `file` is this template or one around it, which it would then nest without end.
    pub(crate) fn is_within(&self, file: &Path) -> bool {
        plain(self.file) == plain(file) || self.parent.is_some_and(|outer| outer.is_within(file))
    }
}

/// The path without `.` and without steps that `..` takes back.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        let back = component == Component::ParentDir;
        match plain.components().next_back() {
            _ if component == Component::CurDir => {}
            Some(Component::Normal(_)) if back => {
                plain.pop();
            }
            _ => plain.push(component),
        }
    }
    plain
}
