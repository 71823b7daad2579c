//! Sets of HTTP methods, small enough to test with one instruction.
//!
//! `HEAD` and `GET` are one method here: a limit on reading is none if `HEAD` goes around it.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Methods(u16);

/// What is no method that a rule can name: only rules for all methods apply to it.
const OTHER: u16 = 1 << 15;

pub(super) const METHOD_COUNT: usize = 9;

impl Methods {
    /// A rule's methods; none named means all.
    pub(super) fn from_rule(names: &[String]) -> Self {
        if names.is_empty() {
            return Self(u16::MAX);
        }
        Self(names.iter().filter_map(|name| bit(name)).fold(0, |all, one| all | one))
    }

    pub(super) fn from_request(name: &str) -> Self {
        Self(bit(name).unwrap_or(OTHER))
    }

    pub(super) fn is_known(name: &str) -> bool {
        bit(name).is_some()
    }

    /// Whether the two have a method in common.
    pub(super) fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

fn bit(name: &str) -> Option<u16> {
    Some(match name {
        "GET" | "HEAD" => 1,
        "POST" => 1 << 1,
        "PUT" => 1 << 2,
        "PATCH" => 1 << 3,
        "DELETE" => 1 << 4,
        "OPTIONS" => 1 << 5,
        "CONNECT" => 1 << 6,
        "TRACE" => 1 << 7,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_meets_the_methods_it_names_and_head_is_get() {
        let table: [(&[&str], &[&str], &[&str]); 5] = [
            (&[], &["GET", "HEAD", "POST", "PURGE", "get"], &[]),
            (&["GET"], &["GET", "HEAD"], &["POST", "PURGE", "get"]),
            (&["HEAD"], &["GET", "HEAD"], &["POST"]),
            (&["POST", "PUT"], &["POST", "PUT"], &["GET", "HEAD", "PATCH", "DELETE", "OPTIONS"]),
            (&["PURGE"], &[], &["PURGE", "GET"]),
        ];
        for (named, meets, misses) in table {
            let named: Vec<String> = named.iter().map(ToString::to_string).collect();
            let rule = Methods::from_rule(&named);
            for method in meets {
                assert!(rule.intersects(Methods::from_request(method)), "{named:?} {method}");
            }
            for method in misses {
                assert!(!rule.intersects(Methods::from_request(method)), "{named:?} {method}");
            }
        }
    }

    #[test]
    fn as_many_are_known_as_is_said() {
        let all = "GET HEAD POST PUT PATCH DELETE OPTIONS CONNECT TRACE";
        assert!(all.split(' ').all(Methods::is_known));
        assert_eq!(all.split(' ').count(), METHOD_COUNT);
        assert!(!Methods::is_known("get") && !Methods::is_known("PURGE") && !Methods::is_known(""));
    }
}
