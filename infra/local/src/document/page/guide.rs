//! What holds for every operation, told once at the top of the page.

use serde_json::{Value, json};

use super::Section;
use super::sample::Sample;
use super::text::{escape, inline, listing, paragraphs, string};

/// The topics with their anchors, in order.
pub(super) const TOPICS: &[(&str, &str)] = &[
    ("guide-overview", "Overview"),
    ("guide-authentication", "Authentication"),
    ("guide-lists", "Lists"),
    ("guide-retries", "Safe retries"),
    ("guide-versions", "Versions"),
    ("guide-errors", "Errors"),
];

const OVERVIEW: &str = "Serverless building blocks behind one HTTP API. Each block is small, \
    stands on its own and scales with its traffic; they share accounts, errors and habits, so what \
    you learn with one holds for all.\n\nRequests and answers are JSON in UTF-8. Times are \
    RFC 3339 in UTC. Fields you don't know may appear in answers at any time: ignore them.";

const AUTHENTICATION: &str = "Send a key as `Authorization: Bearer keyId.secret`. The part before \
    the dot names the key in lists and logs; the part after it is the secret, which is shown once \
    and kept only as a hash.\n\nEach operation says who may call it: anyone, any key, or a key \
    with a certain role. A key has the roles of its account unless it was narrowed to fewer. \
    Where an OIDC issuer is configured, its tokens are taken in place of keys.";

const LISTS: &str = "A list answers with a page: `items`, and `nextCursor` when there are more. \
    Pass that as `cursor` for the next page, and stop when it is absent. `limit` says how many you \
    want at most. Cursors are opaque: keep them as they are, and don't build your own.";

const RETRIES: &str = "Operations that create things take an `Idempotency-Key`: any text that is \
    new for each thing you want, such as a UUID or your own order number. A repeat with the same \
    key and the same body within 24 hours gets the first answer and creates nothing, so a request \
    that timed out can simply be sent again.";

const VERSIONS: &str = "What can be changed carries its version in `ETag`. Send the one you read \
    in `If-Match`: if someone else was faster, the answer is `412` and nothing is changed. Read \
    again, decide again, repeat.";

const ERRORS: &str = "Every error is `application/problem+json` as in RFC 9457. `type` names the \
    kind of problem and leads to its [entry below](#guide-problems); `detail` says what was wrong \
    this time. When a field breaks a rule, `errors` names it.";

const BROKEN_RULE: &str = "`name` must be 1 to 100 characters.";

/// The guide.
pub(super) fn html(document: &Value, sections: &[Section<'_>]) -> String {
    let errors = paragraphs(ERRORS)
        .replace("[entry below](#guide-problems)", "<a href=\"#guide-problems\">entry below</a>");
    let bodies = [
        paragraphs(OVERVIEW) + &cards(sections),
        paragraphs(AUTHENTICATION),
        paragraphs(LISTS),
        paragraphs(RETRIES),
        paragraphs(VERSIONS),
        errors,
    ];
    let topics = TOPICS.iter().zip(bodies).zip(listings());
    let topics = topics.map(|((topic, body), listing)| article(document, topic, &body, &listing));
    format!("<section class=\"guide\">\n{}</section>\n", topics.collect::<String>())
}

fn article(document: &Value, (anchor, title): &(&str, &str), body: &str, listing: &str) -> String {
    let heading = if *anchor == "guide-overview" {
        format!("<h1>{} API</h1>", escape(string(&document["info"], "title")))
    } else {
        format!("<h2><a href=\"#{anchor}\">{title}</a></h2>")
    };
    format!(
        "<article id=\"{anchor}\">\n<div class=\"prose\">\n{heading}\n{body}</div>\n\
         <div class=\"code\">\n{listing}</div>\n</article>\n"
    )
}

fn cards(sections: &[Section<'_>]) -> String {
    let card = |section: &Section<'_>| {
        format!(
            "<li><a href=\"#{}\"><b>{}</b><span>{}</span></a></li>\n",
            section.anchor(),
            escape(section.name),
            inline(section.about)
        )
    };
    format!("<ul class=\"cards\">\n{}</ul>\n", sections.iter().map(card).collect::<String>())
}

/// One listing for each topic.
fn listings() -> [String; 6] {
    let page = Sample::Fields(vec![
        ("items".to_owned(), json!([{ "userId": "importer" }, { "userId": "reporter" }]).into()),
        ("nextCursor".to_owned(), json!("cmVwb3J0ZXI").into()),
    ]);
    let shell = |caption, text| listing(caption, &escape(text));
    [
        shell(
            "Before you start",
            "# Where the service answers, and keyId.secret\n\
             export SWITCHYARD_URL=...\n\
             export SWITCHYARD_ADMIN_KEY=...",
        ),
        shell(
            "Try your key",
            "curl \"$SWITCHYARD_URL/api/v1/me\" \\\n  \
             -H \"Authorization: Bearer $SWITCHYARD_ADMIN_KEY\"",
        ),
        listing("A page", &page.html()),
        shell("Header of a request", "Idempotency-Key: import-2026-01-15"),
        shell("What you read, what you send", "< ETag: \"3\"\n> If-Match: \"3\""),
        listing("A problem", &problem().html()),
    ]
}

fn problem() -> Sample {
    let fields = [
        ("type", json!("/docs#invalid")),
        ("title", json!("A field breaks a rule")),
        ("status", json!(422)),
        ("detail", json!(BROKEN_RULE)),
        ("instance", json!("/api/v1/accounts")),
    ];
    let error = [("field", json!("name")), ("detail", json!(BROKEN_RULE))];
    let named = |fields: &[(&str, Value)]| -> Vec<(String, Sample)> {
        fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into())).collect()
    };
    let mut all = named(&fields);
    all.push(("errors".to_owned(), Sample::List(vec![Sample::Fields(named(&error))])));
    Sample::Fields(all)
}
