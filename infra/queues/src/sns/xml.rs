//! The XML that SNS answers with.

use crate::settings::Attributes;

/// The answer to an action that was done.
pub(crate) fn response(action: &str, result: &str, request_id: &str) -> String {
    format!(
        "<{action}Response xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\">\
         <{action}Result>{result}</{action}Result>\
         <ResponseMetadata><RequestId>{request_id}</RequestId></ResponseMetadata>\
         </{action}Response>"
    )
}

/// The answer to an action that was not.
pub(crate) fn error(kind: &str, code: &str, message: &str, request_id: &str) -> String {
    format!(
        "<ErrorResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><Error>{}{}{}</Error>{}\
         </ErrorResponse>",
        element("Type", kind),
        element("Code", code),
        element("Message", message),
        element("RequestId", request_id),
    )
}

/// An element with text in it.
pub(crate) fn element(name: &str, text: &str) -> String {
    format!("<{name}>{}</{name}>", escape(text))
}

/// A list of elements that are XML already.
pub(crate) fn list(name: &str, members: impl IntoIterator<Item = String>) -> String {
    wrap(name, members.into_iter().map(|member| wrap("member", [member])))
}

/// A map from text to text.
pub(crate) fn map(name: &str, entries: &Attributes) -> String {
    let entry = |(key, value): (&String, &String)| {
        wrap("entry", [element("key", key), element("value", value)])
    };
    wrap(name, entries.iter().map(entry))
}

fn wrap(name: &str, inner: impl IntoIterator<Item = String>) -> String {
    format!("<{name}>{}</{name}>", inner.into_iter().collect::<String>())
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\r' => escaped.push_str("&#xD;"),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_out_of_its_element() {
        assert_eq!(element("a", "<b> & \"c\""), "<a>&lt;b&gt; &amp; &quot;c&quot;</a>");
    }
}
