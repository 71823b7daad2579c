//! Adds open and click tracking to a mail.
//!
//! Only `http` and `https` links in double-quoted `href` attributes are changed; what is not
//! understood stays as it is, so that no mail is ever worse to read for being tracked.

/// The HTML of a mail with an invisible image at its end, and with each link replaced by what `click`
/// makes of it; `None` from `click` leaves a link as it is.
pub fn add_tracking(html: &str, image: &str, click: impl Fn(&str) -> Option<String>) -> String {
    const HREF: &str = "href=\"";
    let mut out = String::with_capacity(html.len() + 256);
    let mut rest = html;
    while let Some(at) = rest.find(HREF) {
        let (before, after) = rest.split_at(at + HREF.len());
        out.push_str(before);
        let Some(end) = after.find('"') else {
            rest = after;
            break;
        };
        let (written, after) = after.split_at(end);
        let target = unescaped(written.trim());
        let leads_out = target.starts_with("https://") || target.starts_with("http://");
        match leads_out.then(|| click(&target)).flatten() {
            Some(link) => out.push_str(&escaped(&link)),
            None => out.push_str(written),
        }
        rest = after;
    }
    out.push_str(rest);
    let image = format!("<img src=\"{}\" width=\"1\" height=\"1\" alt=\"\">", escaped(image));
    match out.rfind("</body>") {
        Some(at) => out.insert_str(at, &image),
        None => out.push_str(&image),
    }
    out
}

/// What an attribute says, for the few things that are written otherwise in URLs.
fn unescaped(written: &str) -> String {
    let named =
        [("&quot;", "\""), ("&#x27;", "'"), ("&#39;", "'"), ("&#x2f;", "/"), ("&#47;", "/")];
    let plain = named.iter().fold(written.to_owned(), |text, (from, to)| text.replace(from, to));
    // Last, so that nothing is read twice.
    plain.replace("&amp;", "&")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: &str = "https://sy.test/t/o/1";

    fn updated(html: &str) -> String {
        let click = |target: &str| {
            (!target.contains("/unsubscribe")).then(|| format!("https://sy.test/t/c?to={target}"))
        };
        add_tracking(html, IMAGE, click)
    }

    #[test]
    fn links_lead_through_us_and_everything_else_stays() {
        for (html, body) in [
            (
                r#"<a href="https://a.example/?x=1&amp;y=2">a</a>"#,
                r#"<a href="https://sy.test/t/c?to=https://a.example/?x=1&amp;y=2">a</a>"#,
            ),
            (
                r#"<a class="b" href="http:&#x2f;&#x2f;a.example">a</a><b>"#,
                r#"<a class="b" href="https://sy.test/t/c?to=http://a.example">a</a><b>"#,
            ),
            (r#"<a href="mailto:a@b.example">a</a>"#, r#"<a href="mailto:a@b.example">a</a>"#),
            (r##"<a href="#top">a</a>"##, r##"<a href="#top">a</a>"##),
            (
                r#"<a href="https://sy.test/unsubscribe?token=1">x</a>"#,
                r#"<a href="https://sy.test/unsubscribe?token=1">x</a>"#,
            ),
            (r#"<a href="https://a.example"#, r#"<a href="https://a.example"#),
            ("<p>plain</p>", "<p>plain</p>"),
        ] {
            let image = format!("<img src=\"{IMAGE}\" width=\"1\" height=\"1\" alt=\"\">");
            assert_eq!(updated(html), format!("{body}{image}"), "{html}");
        }
    }

    #[test]
    fn the_image_is_part_of_the_body() {
        let html = updated("<html><body><p>hi</p></body></html>");
        assert!(html.ends_with("alt=\"\"></body></html>"), "{html}");
    }
}
