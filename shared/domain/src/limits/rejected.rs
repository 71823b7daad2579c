//! What a caller got wrong about limits, in the domain's words. Absent: status codes.

/// What a caller got wrong about limits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    #[error("`{field}` must be {rule}")]
    Field { field: String, rule: String },
    #[error("there is no such rule")]
    UnknownRule,
    #[error("there is no such override")]
    UnknownOverride,
    #[error("there is no such firewall rule")]
    UnknownFirewallRule,
    #[error("it has changed since it was read")]
    Moved,
}

impl Rejected {
    #[expect(clippy::needless_pass_by_value, reason = "rules are texts or errors made on the spot")]
    pub fn field(field: impl Into<String>, rule: impl ToString) -> Self {
        Self::Field { field: field.into(), rule: rule.to_string() }
    }
}
