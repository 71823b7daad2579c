//! What a caller got wrong about limits, in the domain's words. Absent: status codes.

/// What a caller got wrong about limits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// A field breaks a rule.
    #[error("`{field}` must be {rule}")]
    Field {
        field: String,
        /// What it must be.
        rule: String,
    },
    /// No such rule.
    #[error("there is no such rule")]
    UnknownRule,
    /// No such override.
    #[error("there is no such override")]
    UnknownOverride,
    /// No such rule of the firewall.
    #[error("there is no such firewall rule")]
    UnknownFirewallRule,
    /// It changed since it was read.
    #[error("it has changed since it was read")]
    Moved,
}

impl Rejected {
    /// `field` must be something else.
    #[expect(clippy::needless_pass_by_value, reason = "rules are texts or errors made on the spot")]
    pub fn field(field: impl Into<String>, rule: impl ToString) -> Self {
        Self::Field { field: field.into(), rule: rule.to_string() }
    }
}
