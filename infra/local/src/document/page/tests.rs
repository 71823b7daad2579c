//! The page of a small document that has a bit of everything.

use serde_json::{Value, json};

use super::render;

fn document() -> Value {
    json!({
        "info": { "title": "Yard <&>", "version": "1.2.3" },
        "tags": [{ "name": "Things", "description": "Of all kinds." }, { "name": "Service" }],
        "paths": {
            "/things/{id}": { "delete": drop_thing(), "get": read_thing() },
            "/things": { "post": make_thing() },
            "/health": { "get": {
                "operationId": "readHealth", "summary": "Up?", "tags": ["Service"],
                "security": [], "responses": { "200": { "description": "Yes." } },
            } },
        },
        "components": { "schemas": {
            "Thing": {
                "description": "A thing.", "type": "object", "required": ["title", "colour"],
                "properties": {
                    "colour": { "$ref": "#/components/schemas/Colour" },
                    "inside": {
                        "anyOf": [{ "$ref": "#/components/schemas/Thing" }, { "type": "null" }],
                    },
                    "size": { "type": "integer", "minimum": 2, "maximum": 20_000 },
                    "title": { "type": "string", "maxLength": 9, "example": "it's" },
                },
            },
            "Colour": { "type": "string", "enum": ["red", "green"] },
        } },
        "x-problems": [
            { "type": "/docs#not-found", "status": 404, "title": "Not there", "advice": "Look." },
            { "type": "/docs#busy", "status": 409, "title": "Busy", "advice": "Wait." },
            { "type": "/docs#conflict", "status": 409, "title": "Contradicts", "advice": "Stop." },
        ],
    })
}

fn drop_thing() -> Value {
    let id =
        json!({ "in": "path", "name": "id", "required": true, "schema": { "type": "string" } });
    json!({
        "operationId": "dropThing", "summary": "Drop", "tags": ["Things"],
        "x-role": "admin", "security": [{ "apiKey": [] }], "parameters": [id],
        "responses": {
            "204": { "description": "Gone." },
            "404": { "description": "Not there" },
            "409": { "description": "Busy" },
        },
    })
}

fn read_thing() -> Value {
    json!({
        "operationId": "readThing", "summary": "Read <script>", "tags": ["Things"],
        "security": [{ "apiKey": [] }],
        "responses": { "200": answer("#/components/schemas/Thing") },
    })
}

fn make_thing() -> Value {
    json!({
        "operationId": "makeThing", "summary": "Make", "tags": ["Things"],
        "security": [{ "apiKey": [] }],
        "requestBody": answer("#/components/schemas/Thing"),
        "responses": { "201": answer("#/components/schemas/Thing") },
    })
}

fn answer(reference: &str) -> Value {
    json!({
        "description": "As asked.",
        "content": { "application/json": { "schema": { "$ref": reference } } },
    })
}

/// The part of the page about one operation.
fn article(page: &str, operation_id: &str) -> String {
    let start = page.find(&format!("<article id=\"op-{operation_id}\"")).unwrap();
    let end = page[start..].find("</article>").unwrap();
    page[start..start + end].to_owned()
}

#[test]
fn every_operation_is_there_in_reading_order() {
    let page = render(&document());
    let places: Vec<usize> = ["makeThing", "readThing", "dropThing", "readHealth"]
        .iter()
        .map(|id| page.find(&format!("<article id=\"op-{id}\"")).unwrap())
        .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn every_problem_type_has_its_anchor() {
    let (document, page) = (document(), render(&document()));
    for problem in document["x-problems"].as_array().unwrap() {
        let (_, slug) = problem["type"].as_str().unwrap().split_once('#').unwrap();
        assert!(page.contains(&format!("id=\"{slug}\"")), "{slug}");
    }
}

#[test]
fn every_link_leads_to_one_anchor() {
    let page = render(&document());
    for link in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert_eq!(page.matches(&format!(" id=\"{link}\"")).count(), 1, "{link}");
    }
}

#[test]
fn nothing_from_the_document_is_markup() {
    let page = render(&document());
    assert!(!page.contains("<script"));
    assert!(page.contains("Read &lt;script&gt;"));
    assert!(page.contains("<title>Yard &lt;&amp;&gt; API reference</title>"));
}

#[test]
fn the_page_fetches_nothing() {
    let page = render(&document());
    for fetching in ["<script", "<img", "<link", " src=", "@import", "url("] {
        assert!(!page.contains(fetching), "{fetching}");
    }
}

#[test]
fn references_are_followed_and_a_type_within_itself_ends() {
    let make = article(&render(&document()), "makeThing");
    assert!(make.contains("<code>red</code> <code>green</code>"), "{make}");
    assert!(make.contains("2 to 20,000"), "{make}");
    assert!(make.contains("at most 9 characters"), "{make}");
    assert!(make.contains("<code><i>inside.<wbr>inside.</i><wbr>title</code>"), "{make}");
    assert!(!make.contains("$ref"), "{make}");
}

#[test]
fn required_fields_come_first_and_as_declared() {
    let make = article(&render(&document()), "makeThing");
    let place = |name: &str| make.find(&format!("<th scope=\"row\"><code>{name}</code>")).unwrap();
    assert!(place("title") < place("colour") && place("colour") < place("inside"));
}

#[test]
fn the_command_can_be_pasted() {
    let make = article(&render(&document()), "makeThing");
    assert!(make.contains("curl -X POST &quot;$SWITCHYARD_URL/things&quot; \\\n"), "{make}");
    assert!(make.contains("&quot;it&#39;\\&#39;&#39;s&quot;"), "{make}");
    let drop = article(&render(&document()), "dropThing");
    assert!(drop.contains("curl -i -X DELETE \\\n  &quot;$SWITCHYARD_URL/things/20"), "{drop}");
}

#[test]
fn each_operation_says_who_may_call_it() {
    let page = render(&document());
    assert!(article(&page, "dropThing").contains("Role <code>admin</code>"));
    assert!(article(&page, "readThing").contains("Any key"));
    let health = article(&page, "readHealth");
    assert!(health.contains("Public") && !health.contains("Authorization"));
}

#[test]
fn only_the_problems_a_response_names_are_linked() {
    let drop = article(&render(&document()), "dropThing");
    assert!(drop.contains("href=\"#not-found\"") && drop.contains("href=\"#busy\""));
    assert!(!drop.contains("href=\"#conflict\""));
}

#[test]
fn alternatives_are_told_apart_and_the_first_is_the_example() {
    let mut document = document();
    let text = json!({ "type": "string" });
    let variant =
        |by: &str, field: &str| json!({ "properties": { "by": { "const": by }, field: text } });
    document["components"]["schemas"]["Thing"] = json!({
        "type": "object", "required": ["to"],
        "properties": { "to": { "type": "string" } },
        "oneOf": [variant("mail", "subject"), variant("text", "sender")],
    });
    let make = article(&render(&document), "makeThing");
    assert!(make.contains("Only if <code>by</code> is <code>mail</code>"), "{make}");
    assert!(make.contains("<code>sender</code>"), "{make}");
    let command = &make[make.find("-d ").unwrap()..];
    let command = &command[..command.find("</pre>").unwrap()];
    for key in ["to", "by", "subject"] {
        assert!(command.contains(&format!("&quot;{key}&quot;: ")), "{key}: {command}");
    }
    assert!(!command.contains("sender"), "{command}");
}
