//! A firewall rule as an admin sends it, and what it must be like to become one.
//!
//! Guarantee: what is refused is named by field and place (`cidrs[3]`), and a rule that was accepted
//! fits into one row of the store. Absent: rules that hold for everyone.

use serde::Deserialize;

use super::pattern::Pattern;
use super::{FirewallAction, FirewallRule, HeaderTest, IpNetwork};
use crate::Timestamp;

const MAX_NETWORKS: usize = 5_000;

/// The most entries in each other list.
const MAX_ENTRIES: usize = 50;

const MAX_ENTRY_LENGTH: usize = 256;

const MAX_REASON_LENGTH: usize = 200;

/// What a caller sends to make or replace a rule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FirewallDraft {
    /// `allow` or `deny`.
    pub action: FirewallAction,
    #[serde(default)]
    pub cidrs: Vec<String>,
    /// Paths in the template's notation.
    #[serde(default)]
    pub paths: Vec<String>,
    #[serde(default)]
    pub methods: Vec<String>,
    #[serde(default)]
    pub headers: Vec<HeaderTest>,
    #[serde(default)]
    pub user_agents: Vec<String>,
    #[serde(default)]
    pub reason: String,
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
}

/// The field, and the end of a sentence about it.
type Refusal = (String, String);

impl FirewallDraft {
    /// The rule, or the first field that is wrong and what it must be like.
    pub fn into_rule(
        self,
        id: &str,
        version: u64,
        now: Timestamp,
    ) -> Result<FirewallRule, (String, String)> {
        check_id(id)?;
        if self.reason.chars().count() > MAX_REASON_LENGTH || self.reason.contains(char::is_control)
        {
            let rule = format!("must be at most {MAX_REASON_LENGTH} characters on one line");
            return Err(("reason".to_owned(), rule));
        }
        if self.expires_at.is_some_and(|end| end <= now) {
            return Err(("expiresAt".to_owned(), "must be in the future".to_owned()));
        }
        let rule = FirewallRule {
            id: id.to_owned(),
            action: self.action,
            cidrs: each("cidrs", MAX_NETWORKS, self.cidrs, |text| IpNetwork::parse(&text))?,
            paths: each("paths", MAX_ENTRIES, self.paths, path)?,
            methods: each("methods", MAX_ENTRIES, self.methods, method)?,
            headers: headers(self.headers)?,
            user_agents: each("userAgents", MAX_ENTRIES, self.user_agents, text)?,
            reason: self.reason,
            expires_at: self.expires_at,
            version,
            automatic: false,
        };
        if !rule.has_conditions() {
            let lists = "must name at least one of cidrs, paths, methods, headers, userAgents";
            return Err(("cidrs".to_owned(), format!("{lists}: the rule would hold for everyone")));
        }
        Ok(rule)
    }
}

fn check_id(id: &str) -> Result<(), Refusal> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let starts = id.starts_with(|first: char| first.is_ascii_lowercase());
    if starts && id.len() <= 64 && id.bytes().all(plain) {
        return Ok(());
    }
    Err(("id".to_owned(), "must be 1 to 64 of a-z, 0-9 and -, a letter first".to_owned()))
}

/// Reads every entry of a list that isn't too long.
fn each<T, U>(
    field: &str,
    most: usize,
    list: Vec<T>,
    read: impl Fn(T) -> Result<U, String>,
) -> Result<Vec<U>, Refusal> {
    if list.len() > most {
        return Err((field.to_owned(), format!("must have at most {most} entries")));
    }
    let entry = |(at, entry)| read(entry).map_err(|rule| (format!("{field}[{at}]"), rule));
    list.into_iter().enumerate().map(entry).collect()
}

/// Header values that aren't printable ASCII can't be read as text, so nothing else would match.
fn text(text: String) -> Result<String, String> {
    let printable = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if printable && (1..=MAX_ENTRY_LENGTH).contains(&text.len()) {
        return Ok(text);
    }
    Err(format!("must be 1 to {MAX_ENTRY_LENGTH} printable ASCII characters"))
}

fn path(pattern: String) -> Result<String, String> {
    if pattern.len() > MAX_ENTRY_LENGTH {
        return Err(format!("must be at most {MAX_ENTRY_LENGTH} characters"));
    }
    Pattern::parse(&pattern).map(|_| pattern).map_err(str::to_owned)
}

fn method(mut method: String) -> Result<String, String> {
    method.make_ascii_uppercase();
    if is_token(&method) {
        return Ok(method);
    }
    Err("must be the name of a method such as GET".to_owned())
}

fn headers(tests: Vec<HeaderTest>) -> Result<Vec<HeaderTest>, Refusal> {
    let tests = each("headers", MAX_ENTRIES, tests, Ok)?;
    tests.into_iter().enumerate().map(|(at, test)| header(at, test)).collect()
}

fn header(at: usize, mut test: HeaderTest) -> Result<HeaderTest, Refusal> {
    let field = |name: &str| format!("headers[{at}].{name}");
    test.name.make_ascii_lowercase();
    if !is_token(&test.name) {
        return Err((field("name"), "must be the name of a header".to_owned()));
    }
    let said = [test.contains.is_some(), test.equals.is_some(), test.absent];
    if said.into_iter().filter(|said| *said).count() != 1 {
        let rule = "must have exactly one of contains, equals and absent: true";
        return Err((format!("headers[{at}]"), rule.to_owned()));
    }
    let check = |name: &str, value: Option<String>| {
        value.map(text).transpose().map_err(|rule| (field(name), rule))
    };
    test.contains = check("contains", test.contains)?;
    test.equals = check("equals", test.equals)?;
    Ok(test)
}

/// What HTTP calls a token: the form of methods and of headers' names.
fn is_token(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (1..=MAX_ENTRY_LENGTH).contains(&text.len()) && text.bytes().all(plain)
}

#[cfg(test)]
mod tests;
