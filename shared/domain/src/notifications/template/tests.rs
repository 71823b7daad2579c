//! Publishing, filling in, and what people try with templates.

mod injection;

use std::collections::BTreeMap;

use super::*;
use crate::Timestamp;
use crate::accounts::UserId;
use crate::notifications::{Channel, ChannelContents, Content};

pub(super) fn draft(json: &str) -> Result<TemplateDraft, Rejected> {
    let draft: TemplateDraft =
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    draft.validated()
}

pub(super) fn version(draft: TemplateDraft) -> TemplateVersion {
    TemplateVersion {
        template: TemplateId::parse("welcome").unwrap(),
        number: 3,
        draft,
        created_by: UserId::outside("author"),
        created_at: Timestamp::UNIX_EPOCH,
    }
}

fn rendered(
    version: &TemplateVersion,
    channel: Channel,
    wanted: Option<&str>,
    data: &str,
) -> Result<Rendered, RenderError> {
    let wanted = wanted.map(|text| Locale::parse(text).unwrap());
    version.render(channel, wanted.as_ref(), &UserId::outside("ada"), data, &BTreeMap::new())
}

const WELCOME: &str = r#"{"defaultLocale":"en","required":["name"],"optional":["items"],"texts":{
    "en":{"email":{"subject":"Hello {{ name }}","text":"Hi {{ name }}{% for i in items | default(name) %}!{% endfor %}",
        "html":"<p>Hi {{ name }}</p>"},"sms":{"text":"Hi {{ name|upper }}"}},
    "es":{"sms":{"text":"Hola {{ name }}"}},
    "es_MX":{"email":{"subject":"Qué onda {{ name }}","text":"Hola {{ name }}"}}}}"#;

#[test]
fn the_nearest_locale_with_words_for_the_channel_is_taken_and_told() {
    let version = version(draft(WELCOME).unwrap());
    let cases = [
        (Channel::Sms, Some("es_MX"), "es"),
        (Channel::Sms, Some("es"), "es"),
        (Channel::Email, Some("es_MX"), "es_MX"),
        (Channel::Email, Some("es_AR"), "en"),
        (Channel::Sms, Some("de"), "en"),
        (Channel::Sms, None, "en"),
    ];
    for (channel, wanted, expected) in cases {
        let found = rendered(&version, channel, wanted, r#"{"name":"Ada"}"#).unwrap();
        assert_eq!(found.rendering.locale.as_str(), expected, "{channel:?} {wanted:?}");
        assert_eq!(found.rendering.wanted.as_ref().map(Locale::as_str), wanted);
        assert_eq!(found.rendering.version, 3);
    }
    let none = rendered(&version, Channel::Push, None, r#"{"name":"Ada"}"#);
    assert_eq!(none, Err(RenderError::NoContent(Channel::Push)));
}

#[test]
fn html_is_escaped_and_text_is_not() {
    let version = version(draft(WELCOME).unwrap());
    let data = r#"{"name":"<b>O'Neil & \"co\"</b>"}"#;
    let found = rendered(&version, Channel::Email, None, data).unwrap().content;
    let Content::Email { subject, html, .. } = found else { panic!("{found:?}") };
    assert_eq!(subject, "Hello <b>O'Neil & \"co\"</b>");
    assert_eq!(html.unwrap(), "<p>Hi &lt;b&gt;O&#x27;Neil &amp; &quot;co&quot;&lt;&#x2f;b&gt;</p>");
}

#[test]
fn what_is_required_has_to_be_there_at_sending_too() {
    let version = version(draft(WELCOME).unwrap());
    let missing = Err(RenderError::MissingVariables(vec!["name".to_owned()]));
    assert_eq!(version.accepts("{}"), missing);
    assert_eq!(version.accepts(r#"{"name":null}"#), missing);
    assert_eq!(version.accepts("[]"), Err(RenderError::DataNotAnObject));
    assert_eq!(version.accepts(r#"{"name":"Ada","more":1}"#), Ok(()));
    assert!(rendered(&version, Channel::Sms, None, "{}").is_err());
}

fn sms(text: &str, required: &str) -> String {
    let contents = serde_json::json!({ "en": { "sms": { "text": text } } });
    format!(r#"{{"defaultLocale":"en","required":{required},"texts":{contents}}}"#)
}

#[test]
fn what_is_declared_is_what_the_texts_use() {
    for (text, required, fits) in [
        ("Hi {{ name }}", r#"["name"]"#, true),
        ("Hi {{ name }}", "[]", false),
        ("Hi {{ name }}", r#"["name","other"]"#, false),
        ("{% for i in items %}{{ i.n }}{{ loop.index }}{% endfor %}", r#"["items"]"#, true),
        ("{% if vip %}a{% else %}{{ b.c }}{% endif %}", r#"["vip","b"]"#, true),
        ("{{ unsubscribe_url }}", "[]", true),
        ("{{ name", "[]", false),
    ] {
        assert_eq!(draft(&sms(text, required)).is_ok(), fits, "{text} {required}");
    }
}

#[test]
fn the_default_locale_stands_in_for_all() {
    for (texts, fits) in [
        (r#"{"en":{"sms":{"text":"a"}},"es":{"sms":{"text":"b"}}}"#, true),
        (r#"{"es":{"sms":{"text":"b"}}}"#, false),
        (r#"{"en":{"sms":{"text":"a"}},"es":{"push":{"title":"b","body":"c"}}}"#, false),
        (r#"{"en":{}}"#, false),
    ] {
        let json = format!(r#"{{"defaultLocale":"en","texts":{texts}}}"#);
        assert_eq!(draft(&json).is_ok(), fits, "{texts}");
    }
}

#[test]
fn people_keep_their_variant_and_weights_hold() {
    let variant = |name: &str, weight: u32| {
        format!(
            r#"{{"name":"{name}","weight":{weight},"texts":{{"en":{{"sms":{{"text":"{name}"}}}}}}}}"#
        )
    };
    let json = |variants: &[String]| {
        let variants = variants.join(",");
        format!(r#"{{"defaultLocale":"en","test":{{"name":"t1","variants":[{variants}]}}}}"#)
    };
    let version = version(draft(&json(&[variant("a", 70), variant("b", 30)])).unwrap());
    let mut counts = BTreeMap::new();
    for n in 0..2_000 {
        let user = UserId::outside(&format!("user-{n}"));
        let get = || version.render(Channel::Sms, None, &user, "{}", &BTreeMap::new()).unwrap();
        let first = get();
        assert_eq!(first, get(), "the same person, the same variant");
        *counts.entry(first.rendering.variant.unwrap()).or_insert(0) += 1;
    }
    assert!((1_330..1_470).contains(&counts["a"]), "{counts:?}");
    for wrong in [
        json(&[variant("a", 1)]),
        json(&[variant("a", 1), variant("a", 1)]),
        json(&[variant("a", 0), variant("b", 1)]),
        json(&[variant("a", 1), variant("B!", 1)]),
    ] {
        assert!(draft(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn versions_are_numbered_and_one_is_active() {
    let id = TemplateId::parse("welcome").unwrap();
    let first = Template::published(None, &id);
    assert_eq!((first.active, first.latest), (1, 1));
    let second = Template::published(Some(&first), &id);
    assert_eq!((second.active, second.latest, second.version), (1, 2, 2));
    assert_eq!(second.activated(2).unwrap().active, 2);
    assert!(second.activated(3).is_err() && second.activated(0).is_err());
}

#[test]
fn words_are_not_printed() {
    let draft = draft(WELCOME).unwrap();
    assert!(!format!("{draft:?}").contains("Hello"));
    let _: Option<&ChannelContents> = draft.texts.values().next();
}
