//! Routes and salts; the rest of links in the files beside.

mod claims;
mod counts;
mod rows;

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue::{self, Bool, L, M, N, S, Ss};
use domain::Timestamp;
use domain::links::{Route, RouteVariant};
use links::store::Links;
use store::capacity::{self, CapacityUsed};
use tests::Lab;

fn links(lab: &Lab) -> Links {
    Links::new(lab.aws().dynamodb(), lab.table("LinksTable"))
}

fn links_in_lab() -> (Lab, Links) {
    let lab = Lab::new();
    let store = links(&lab);
    (lab, store)
}

async fn put(lab: &Lab, row: &[(&str, AttributeValue)]) {
    let row = row.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let put = lab.aws().dynamodb().put_item().table_name(lab.table("LinksTable"));
    put.set_item(Some(row)).send().await.unwrap();
}

fn text(value: &str) -> AttributeValue {
    S(value.to_owned())
}

fn number(value: i64) -> AttributeValue {
    N(value.to_string())
}

#[tokio::test(start_paused = true)]
async fn a_route_is_one_read_of_everything_that_a_redirect_needs() {
    let lab = Lab::new();
    let variant = M(HashMap::from([
        ("u".to_owned(), text("https://a.example")),
        ("w".to_owned(), number(3)),
    ]));
    let row = [
        ("pk", text("link#go.example#abc")),
        ("sk", text("link")),
        ("to", text("https://example.org")),
        ("ways", L(vec![variant])),
        ("status", number(301)),
        ("expires_at", number(5)),
        ("max_clicks", number(6)),
        ("fallback", text("https://b.example")),
        ("spent_at", number(7)),
        ("forward_query", Bool(true)),
        ("deleted_at", number(8)),
        ("blocked_at", number(9)),
        ("block_reason", text("spam")),
        ("created_at", number(4)),
        ("warnings", Ss(vec!["ip-host".to_owned()])),
        ("title", text("t")),
        ("description", text("d")),
        ("image", text("i")),
        ("owner", text("ada")),
    ];
    put(&lab, &row).await;
    let (route, capacity) =
        Box::pin(capacity::metered(links(&lab).route("go.example", "abc"))).await;
    let at = |ms| Timestamp::from_millisecond(ms).unwrap();
    let expected = Route {
        to: "https://example.org".to_owned(),
        variants: vec![RouteVariant { url: "https://a.example".to_owned(), weight: 3 }],
        status: 301,
        expires_at: Some(at(5)),
        max_clicks: Some(6),
        fallback: Some("https://b.example".to_owned()),
        spent: true,
        forward_query: true,
        deleted: true,
        blocked: Some("spam".to_owned()),
        created_at: at(4),
        warnings: vec!["ip-host".to_owned()],
        title: Some("t".to_owned()),
        description: Some("d".to_owned()),
        image: Some("i".to_owned()),
    };
    assert_eq!(route.unwrap(), Some(expected));
    assert_eq!(capacity, CapacityUsed { calls: 1, units: 0.5 }, "an eventually consistent read");
    assert_eq!(links(&lab).route("", "abc").await.unwrap(), None, "another namespace");
}

#[tokio::test(start_paused = true)]
async fn a_row_that_leads_nowhere_is_a_failure_and_not_a_missing_link() {
    let lab = Lab::new();
    put(&lab, &[("pk", text("link##abc")), ("sk", text("link")), ("created_at", number(1))]).await;
    assert!(links(&lab).route("", "abc").await.unwrap_err().chain().contains("`to`"));
}

#[tokio::test(start_paused = true)]
async fn the_first_salt_of_a_day_stands_and_everyone_else_takes_it() {
    let lab = Lab::new();
    let (links, now) = (links(&lab), Timestamp::from_second(1_772_366_400).unwrap());
    let salt = |fresh| links.salt("2026-03-01", [fresh; 32], now);
    let raced = futures::future::join_all((1..=20).map(salt)).await;
    let first = *raced[0].as_ref().unwrap();
    assert!(raced.into_iter().all(|salt| salt.unwrap() == first));
    assert_eq!(salt(99).await.unwrap(), first, "read, not written");
    assert_eq!(links.salt("2026-03-02", [7; 32], now).await.unwrap(), [7; 32]);
}
