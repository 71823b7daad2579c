//! The caller's mistake, in one enum for all systems. It knows no status: `boundary::http` has the only mapping.

use std::borrow::Cow;

/// Why a request can't be carried out as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// A field has to be something else.
    #[error("`{field}` must be {rule}")]
    Invalid {
        /// The field, as the caller wrote it.
        field: String,
        /// What it must be.
        rule: String,
    },
    /// A field is invalid in a way that takes a sentence.
    #[error("{detail}")]
    InvalidField {
        /// The field, as the caller wrote it.
        field: String,
        detail: String,
    },
    /// There is no such thing, or this caller may not see it.
    #[error("there is no such {0}")]
    Unknown(Cow<'static, str>),
    /// Something is there already, or conflicts; a sentence.
    #[error("{0}")]
    Conflict(Cow<'static, str>),
    /// The caller may not do that; a sentence.
    #[error("{0}")]
    Forbidden(Cow<'static, str>),
    /// It has changed since the caller read it.
    #[error("it has changed since it was read")]
    VersionMismatch,
}

impl Rejected {
    /// `field` must be something else.
    pub fn invalid(field: impl Into<String>, rule: impl Into<String>) -> Self {
        Self::Invalid { field: field.into(), rule: rule.into() }
    }

    /// What is wrong with `field`, as a sentence.
    pub fn invalid_field(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::InvalidField { field: field.into(), detail: detail.into() }
    }

    /// There is no such thing.
    pub const fn unknown(what: &'static str) -> Self {
        Self::Unknown(Cow::Borrowed(what))
    }

    /// What conflicts, as a sentence.
    pub fn conflict(sentence: impl Into<Cow<'static, str>>) -> Self {
        Self::Conflict(sentence.into())
    }

    /// Why the caller may not, as a sentence.
    pub fn forbidden(sentence: impl Into<Cow<'static, str>>) -> Self {
        Self::Forbidden(sentence.into())
    }
}
