//! What people try: in templates, and in what is passed in.

use super::*;

#[test]
fn nothing_but_the_language_is_published() {
    let doubling = "{% for b in [a ~ a] %}".repeat(40) + &"{% endfor %}".repeat(40);
    for text in [
        "{% include 'secret' %}",
        "{% import 'x' as y %}",
        "{% from 'x' import y %}",
        "{% extends 'base' %}",
        "{% block x %}{% endblock %}",
        "{% macro m() %}{% endmacro %}",
        "{% set a = 1 %}",
        "{% set a %}x{% endset %}",
        "{% with a = 1 %}{% endwith %}",
        "{% do range(3) %}",
        "{% filter upper %}x{% endfilter %}",
        "{% autoescape false %}{{ a }}{% endautoescape %}",
        "{{ a|safe }}",
        "{{ a|escape }}",
        "{{ a|tojson }}",
        "{{ a|pprint }}",
        "{{ a|format(1) }}",
        "{{ a|replace('a', 'aaaa') }}",
        "{{ a|indent(1000000) }}",
        "{{ range(1000000000) }}",
        "{{ debug() }}",
        "{{ a.b() }}",
        "{{ self.x() }}",
        "{{ lipsum(5) }}",
        "{{ 'x' * 1000000000 }}",
        "{{ a ~ a }}",
        "{{ a + a }}",
        "{{ 9 ** 9 ** 9 }}",
        "{{ [a, a] }}",
        "{{ {'a': a} }}",
        "{{ a[0:1000] }}",
        "{% for x in a recursive %}{{ loop(x) }}{% endfor %}",
        "{% for x, y in a %}{% endfor %}",
        "{{ a is callable }}",
        "{{ a|default(value=1) }}",
        doubling.as_str(),
    ] {
        let json = super::sms(text, r#"["a"]"#);
        assert!(draft(&json).is_err(), "{text}");
    }
}

fn subject(source: &str) -> TemplateVersion {
    let texts = serde_json::json!({ "en": { "email": { "subject": source, "text": "x" } } });
    let json = format!(r#"{{"defaultLocale":"en","required":["a"],"texts":{texts}}}"#);
    version(draft(&json).unwrap())
}

#[test]
fn no_data_makes_a_second_header() {
    let version = subject("Order {{ a }}");
    for tried in ["1\r\nBcc: eve@example.org", "1\nX: y", "1\u{2028}2", "1\r", "\u{0}", "\u{85}x"] {
        let data = serde_json::json!({ "a": tried }).to_string();
        let found = rendered(&version, Channel::Email, None, &data).unwrap().content;
        let Content::Email { subject, .. } = found else { panic!("{found:?}") };
        assert!(!subject.chars().any(|c| c.is_control() || c == '\u{2028}'), "{subject:?}");
        assert!(subject.starts_with("Order"));
    }
    let texts = r#"{"en":{"email":{"subject":"a\nb","text":"x"}}}"#;
    assert!(draft(&format!(r#"{{"defaultLocale":"en","texts":{texts}}}"#)).is_err());
}

#[test]
fn data_is_data_and_is_never_read_as_a_template() {
    let data = r#"{"a":"{{ 7 * 7 }}{% include 'x' %}"}"#;
    let found = rendered(&subject("{{ a }}"), Channel::Email, None, data).unwrap().content;
    let Content::Email { subject, .. } = found else { panic!("{found:?}") };
    assert_eq!(subject, "{{ 7 * 7 }}{% include 'x' %}");
}

#[test]
fn a_link_that_would_run_something_is_not_sent() {
    let texts = r#"{"en":{"push":{"title":"t","body":"b","link":"{{ a }}"}}}"#;
    let json = format!(r#"{{"defaultLocale":"en","required":["a"],"texts":{texts}}}"#);
    let version = version(draft(&json).unwrap());
    let get = |link: &str| {
        let data = serde_json::json!({ "a": link }).to_string();
        rendered(&version, Channel::Push, None, &data)
    };
    assert!(get("https://example.org").is_ok());
    assert!(matches!(get("javascript:alert(1)"), Err(RenderError::Invalid { .. })));
}

#[test]
fn loops_end_and_texts_are_bounded() {
    let loops =
        "{% for i in a %}{% for j in a %}{% for k in a %}x{% endfor %}{% endfor %}{% endfor %}";
    let text = version(draft(&super::sms(loops, r#"["a"]"#)).unwrap());
    let data = serde_json::json!({ "a": vec![0; 1_000] }).to_string();
    let found = rendered(&text, Channel::Sms, None, &data);
    assert!(matches!(found, Err(RenderError::Failed { .. })), "{found:?}");
    let wide = "{% for i in a %}{{ b }}{% endfor %}";
    let text = version(draft(&super::sms(wide, r#"["a","b"]"#)).unwrap());
    let data = serde_json::json!({ "a": vec![0; 1_000], "b": "x".repeat(50_000) }).to_string();
    let found = rendered(&text, Channel::Sms, None, &data);
    assert!(matches!(found, Err(RenderError::Failed { .. })), "{found:?}");
}

#[test]
fn what_has_no_form_to_read_is_not_sent_and_reasons_do_not_repeat_it() {
    let version = version(draft(&super::sms("{{ a.b }}", r#"["a"]"#)).unwrap());
    for data in [
        r#"{"a":{"b":null}}"#,
        r#"{"a":{"b":["secret"]}}"#,
        r#"{"a":{"b":{"c":"secret"}}}"#,
        r#"{"a":{"c":"secret"}}"#,
        r#"{"a":"secret"}"#,
    ] {
        let reason = rendered(&version, Channel::Sms, None, data).unwrap_err().to_string();
        assert!(!reason.contains("secret"), "{reason}");
    }
    assert!(rendered(&version, Channel::Sms, None, r#"{"a":{"b":4.5}}"#).is_ok());
}

#[test]
fn callers_can_not_pass_in_the_link_that_ends_mails() {
    let version = version(draft(&super::sms("{{ unsubscribe_url }}", "[]")).unwrap());
    let forged = r#"{"unsubscribe_url":"https://evil.example"}"#;
    assert!(rendered(&version, Channel::Sms, None, forged).is_err());
    let ours = BTreeMap::from([("unsubscribe_url", "https://ours.example".to_owned())]);
    let user = UserId::outside("ada");
    let found = version.render(Channel::Sms, None, &user, forged, &ours).unwrap().content;
    assert_eq!(found, Content::Sms { text: "https://ours.example".to_owned() });
}
