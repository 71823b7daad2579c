//! Configuration: the environment, read once, with errors a person can act on.

use std::collections::BTreeMap;

/// The variables a function was given.
#[derive(Debug, Clone, Default)]
pub struct Vars(BTreeMap<String, String>);

/// A variable is missing or malformed; the function does not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("environment variable {name} {problem}; template.yaml sets it for the deployed function")]
pub struct Misconfigured {
    pub name: String,
    /// What is wrong with it.
    pub problem: String,
}

impl Vars {
    /// The process's environment.
    #[expect(clippy::disallowed_methods, reason = "this is where the environment comes in")]
    pub fn from_env() -> Self {
        Self(std::env::vars().collect())
    }

    /// A variable that must be there and say something.
    pub fn required(&self, name: &str) -> Result<&str, Misconfigured> {
        self.optional(name).ok_or_else(|| Misconfigured {
            name: name.to_owned(),
            problem: "is not set".to_owned(),
        })
    }

    /// A variable that may be missing; an empty one counts as missing.
    pub fn optional(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A variable that may be missing but, if there, must be what `parse` accepts.
    pub fn parsed<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Option<T>,
        must_be: &str,
    ) -> Result<Option<T>, Misconfigured> {
        let Some(value) = self.optional(name) else { return Ok(None) };
        match parse(value) {
            Some(parsed) => Ok(Some(parsed)),
            None => {
                Err(Misconfigured { name: name.to_owned(), problem: format!("must be {must_be}") })
            }
        }
    }
}

impl FromIterator<(String, String)> for Vars {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(vars: I) -> Self {
        Self(vars.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_variable_is_named_with_where_to_set_it() {
        let vars = Vars::from_iter([("EMPTY".to_owned(), String::new())]);
        for name in ["ABSENT", "EMPTY"] {
            let message = vars.required(name).unwrap_err().to_string();
            assert!(message.starts_with(&format!("environment variable {name} is not set")));
            assert!(message.contains("template.yaml"));
        }
    }
}
