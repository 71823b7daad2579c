//! A path in the template's notation: `{id}` is one segment, `{*rest}` all that remain.
//!
//! Guarantee: a pattern matches what the router would route by it. Neither placeholder matches
//! nothing, and paths are compared as the gateway hands them over. Absent: placeholders for part of
//! a segment.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    segments: Vec<Segment>,
    /// Whether any remainder may follow the segments.
    open: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Fixed(String),
    Any,
}

impl Pattern {
    /// Reads a pattern. What is wrong with it is said as the end of a sentence.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let path = text.strip_prefix('/').ok_or("must start with /")?;
        let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'?' && byte != b'#';
        if !path.bytes().all(plain) {
            return Err("must be a path: printable ASCII without spaces, ? and #");
        }
        let mut pattern = Self { segments: Vec::new(), open: false };
        for segment in path.split('/') {
            if pattern.open {
                return Err("must end with {*rest} where it has one");
            }
            match placeholder(segment)? {
                None => pattern.segments.push(Segment::Fixed(segment.to_owned())),
                Some(name) if name.starts_with('*') => pattern.open = true,
                Some(_) => pattern.segments.push(Segment::Any),
            }
        }
        Ok(pattern)
    }

    /// Whether a path is one of those meant.
    pub(super) fn matches(&self, path: &str) -> bool {
        let Some(mut remaining) = path.strip_prefix('/').map(Some) else {
            return false;
        };
        for segment in &self.segments {
            let Some(text) = remaining else {
                return false;
            };
            let (first, rest) = match text.split_once('/') {
                None => (text, None),
                Some((first, rest)) => (first, Some(rest)),
            };
            let fits = match segment {
                Segment::Fixed(fixed) => fixed == first,
                Segment::Any => !first.is_empty(),
            };
            if !fits {
                return false;
            }
            remaining = rest;
        }
        match remaining {
            None => !self.open,
            Some(rest) => self.open && !rest.is_empty(),
        }
    }
}

/// The name in a placeholder, if the segment is one.
fn placeholder(segment: &str) -> Result<Option<&str>, &'static str> {
    if !segment.contains(['{', '}']) {
        return Ok(None);
    }
    let name = segment.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
    let bare = name.map(|name| name.strip_prefix('*').unwrap_or(name)).unwrap_or_default();
    if bare.is_empty() || bare.contains(['{', '}', '*']) {
        return Err("must use braces only around a whole segment: {name}, or {*rest} at the end");
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_match_segment_by_segment() {
        for (pattern, path, matches) in [
            ("/", "/", true),
            ("/", "/a", false),
            ("/api/v1/jobs/{id}", "/api/v1/jobs/7", true),
            ("/api/v1/jobs/{id}", "/api/v1/jobs", false),
            ("/api/v1/jobs/{id}", "/api/v1/jobs/", false),
            ("/api/v1/jobs/{id}", "/api/v1/jobs/7/", false),
            ("/api/v1/jobs/{id}", "/api/v1/jobs/7/retry", false),
            ("/api/v1/jobs/{id}/retry", "/api/v1/jobs/7/retry", true),
            ("/admin/{*rest}", "/admin/firewall", true),
            ("/admin/{*rest}", "/admin/firewall/rules/7", true),
            ("/admin/{*rest}", "/admin//", true),
            ("/admin/{*rest}", "/admin/", false),
            ("/admin/{*rest}", "/admin", false),
            ("/admin/{*rest}", "/administrators/7", false),
            ("/{*all}", "/a/b", true),
            ("/{*all}", "/", false),
            ("/Admin", "/admin", false),
            ("/a", "a", false),
            ("/a", "", false),
        ] {
            let read = Pattern::parse(pattern).unwrap();
            assert_eq!(read.matches(path), matches, "{pattern} {path}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in [
            "",
            "admin",
            "/a b",
            "/ä",
            "/a?b=c",
            "/a#b",
            "/{}",
            "/{*}",
            "/{a}{b}",
            "/x{a}",
            "/{a",
            "/a}",
            "/{*rest}/a",
            "/{**rest}",
            "/{a*}",
            "/\n",
        ] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_pattern_matches_what_the_router_routes(
            pattern in prop::collection::vec(prop::sample::select(vec!["a", "b", "{x}"]), 0..4),
            rest in any::<bool>(),
            path in prop::collection::vec(prop::sample::select(vec!["a", "b", "c", ""]), 0..6),
        ) {
            let named = |(at, part): (usize, &&str)| part.replace('x', &format!("x{at}"));
            let mut parts: Vec<String> = pattern.iter().enumerate().map(named).collect();
            if rest || parts.is_empty() {
                parts.push("{*rest}".to_owned());
            }
            let pattern = format!("/{}", parts.join("/"));
            let path = format!("/{}", path.join("/"));
            let mut router = matchit::Router::new();
            router.insert(&pattern, ()).unwrap();
            prop_assert_eq!(Pattern::parse(&pattern).unwrap().matches(&path), router.at(&path).is_ok());
        }
    }
}
