//! The `Accept` header.

/// Whether a page serves the caller better than JSON: a browser names HTML, a script anything.
pub fn prefers_html(accept: Option<&str>) -> bool {
    let (mut html, mut json) = (0.0, 0.0);
    for range in accept.unwrap_or_default().split(',') {
        let mut parts = range.split(';');
        let kind = parts.next().unwrap_or_default().trim();
        let weight = parts.find_map(|part| part.trim().strip_prefix("q="));
        let weight: f32 = weight.map_or(1.0, |q| q.parse().unwrap_or(0.0));
        match kind {
            "text/html" | "application/xhtml+xml" => html = weight.max(html),
            "application/json" | "application/problem+json" => json = weight.max(json),
            _ => {}
        }
    }
    html > 0.0 && html >= json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_get_pages_and_scripts_get_json() {
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        for (accept, html) in [
            (None, false),
            (Some("*/*"), false),
            (Some(browser), true),
            (Some("application/json"), false),
            (Some("application/json, text/html;q=0.5"), false),
            (Some("text/html;q=0.9, application/json; q=0.1"), true),
            (Some("text/html;q=0"), false),
            (Some("text/html;q=x"), false),
        ] {
            assert_eq!(prefers_html(accept), html, "{accept:?}");
        }
    }
}
