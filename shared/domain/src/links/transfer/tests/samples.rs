//! A sample of each export, and the records in it.

use super::*;

pub(super) const OWN: &str = include_str!("../samples/own.csv");
const BITLY: &str = include_str!("../samples/bitly.csv");
const BITLY_API: &str = include_str!("../samples/bitly.json");
const YOURLS: &str = include_str!("../samples/yourls.csv");
const YOURLS_PLUGIN: &str = include_str!("../samples/yourls-plugin.csv");
const YOURLS_API: &str = include_str!("../samples/yourls.json");
const SHLINK: &str = include_str!("../samples/shlink.csv");
const SHLINK_BEFORE_4: &str = include_str!("../samples/shlink-before-4.csv");
const SHLINK_API: &str = include_str!("../samples/shlink.json");
const KUTT: &str = include_str!("../samples/kutt.csv");
const KUTT_API: &str = include_str!("../samples/kutt.json");

pub(super) const ALL: [(ImportSource, &str); 11] = [
    (ImportSource::Bitly, BITLY),
    (ImportSource::Bitly, BITLY_API),
    (ImportSource::Yourls, YOURLS),
    (ImportSource::Yourls, YOURLS_PLUGIN),
    (ImportSource::Yourls, YOURLS_API),
    (ImportSource::Shlink, SHLINK),
    (ImportSource::Shlink, SHLINK_BEFORE_4),
    (ImportSource::Shlink, SHLINK_API),
    (ImportSource::Kutt, KUTT),
    (ImportSource::Kutt, KUTT_API),
    (ImportSource::Csv, OWN),
];

/// A record with what every link has.
fn link(line: usize, code: &str, url: &str) -> LinkRecord {
    LinkRecord { line, code: some(code), url: url.to_owned(), ..LinkRecord::default() }
}

fn bad(line: usize, problem: &str) -> BadRecord {
    BadRecord { line, problem: problem.to_owned() }
}

fn records(source: ImportSource, body: &str) -> Vec<LinkRecord> {
    read_links(source, body.as_bytes()).unwrap().into_iter().map(Result::unwrap).collect()
}

#[test]
fn bitly_gives_the_custom_link_where_there_is_one_and_keeps_no_domain_of_its_own() {
    let sale = "https://shop.example.com/sale?utm_source=mail&utm_medium=spring";
    let expected = [
        LinkRecord {
            domain: some("go.example.com"),
            note: some("Spring sale, 2026"),
            tags: tags(&["mail", "spring"]),
            created_at: at("2026-03-01T12:30:00Z"),
            clicks: Some(1520),
            ..link(2, "spring", sale)
        },
        LinkRecord {
            note: some("The \"big\" guide"),
            created_at: at("2025-11-20T08:15:00Z"),
            clicks: Some(0),
            ..link(3, "4aBcDeF", "https://docs.example.com/guide")
        },
        LinkRecord {
            tags: tags(&["docs"]),
            created_at: at("2024-07-04T00:00:00Z"),
            clicks: Some(7),
            ..link(4, "2QrStUv", "https://example.com/")
        },
    ];
    assert_eq!(records(ImportSource::Bitly, BITLY), expected);
    let expected = [
        LinkRecord {
            domain: some("go.example.com"),
            note: some("Spring sale"),
            tags: tags(&["mail", "spring"]),
            created_at: at("2026-03-01T12:30:00Z"),
            ..link(1, "spring", "https://shop.example.com/sale")
        },
        LinkRecord {
            created_at: at("2025-11-20T08:15:00Z"),
            ..link(2, "4aBcDeF", "https://docs.example.com/guide")
        },
    ];
    assert_eq!(records(ImportSource::Bitly, BITLY_API), expected);
}

#[test]
fn yourls_is_read_from_its_table_its_plugin_and_its_api() {
    let ozh = |line| LinkRecord { clicks: Some(812), ..link(line, "ozh", "https://ozh.example/") };
    let created_at = at("2009-08-14T23:12:01Z");
    let expected = [
        LinkRecord { note: some("Ozh's \"blog\""), created_at, ..ozh(2) },
        LinkRecord {
            note: some("Example"),
            clicks: Some(0),
            ..link(3, "1f", "https://example.com/a?b=1&c=2")
        },
    ];
    assert_eq!(records(ImportSource::Yourls, YOURLS), expected);
    let other = LinkRecord { clicks: Some(0), ..link(3, "1f", "https://example.com/a,b") };
    assert_eq!(records(ImportSource::Yourls, YOURLS_PLUGIN), [ozh(2), other]);
    let domain = some("sho.example");
    let first = LinkRecord { domain, note: some("Ozh"), created_at, ..ozh(1) };
    let read = records(ImportSource::Yourls, YOURLS_API);
    assert_eq!((read.len(), &read[0]), (2, &first));
}

#[test]
fn shlink_is_read_from_both_of_its_files_and_its_api() {
    let launch = LinkRecord {
        domain: some("s.example"),
        note: some("Launch"),
        tags: tags(&["news", "team"]),
        created_at: at("2026-01-05T08:00:00Z"),
        clicks: Some(42),
        ..link(2, "launch", "https://example.com/launch")
    };
    let read = records(ImportSource::Shlink, SHLINK);
    let url = "https://example.com/launch?ref=s".to_owned();
    assert_eq!(read[0], LinkRecord { url, note: some("Launch, day one"), ..launch.clone() });
    assert_eq!((read[1].line, read[1].code.as_deref(), &read[1].note), (3, Some("Ab3dE"), &None));
    let created_at = at("2022-01-05T08:00:00Z");
    assert_eq!(
        records(ImportSource::Shlink, SHLINK_BEFORE_4),
        [LinkRecord { created_at, ..launch.clone() }]
    );
    let expected = [
        LinkRecord {
            line: 1,
            domain: None,
            expires_at: at("2026-12-31T23:59:59Z"),
            max_clicks: Some(100),
            forward_query: true,
            ..launch
        },
        LinkRecord {
            domain: some("old.example"),
            created_at: at("2021-01-05T09:00:00Z"),
            clicks: Some(3),
            ..link(2, "old", "https://example.com/old")
        },
    ];
    assert_eq!(records(ImportSource::Shlink, SHLINK_API), expected);
}

#[test]
fn kutt_gives_what_was_open_there_and_nothing_that_was_closed() {
    let password = "`password`: it has a password there, and would open without one here";
    let handbook = LinkRecord {
        note: some("The handbook"),
        created_at: at("2026-02-03T04:05:06.789Z"),
        clicks: Some(17),
        ..link(2, "handbook", "https://example.com/handbook")
    };
    let fair = LinkRecord {
        domain: some("go.example"),
        created_at: at("2026-02-04T04:05:06Z"),
        expires_at: at("2026-09-01T00:00:00Z"),
        clicks: Some(0),
        ..link(3, "fair", "https://example.com/fair")
    };
    let banned = bad(5, "`banned`: it was banned there");
    assert_eq!(
        read_links(ImportSource::Kutt, KUTT.as_bytes()).unwrap(),
        [Ok(handbook.clone()), Ok(fair), Err(bad(4, password)), Err(banned)]
    );
    let handbook = LinkRecord { line: 1, expires_at: at("2026-09-01T00:00:00Z"), ..handbook };
    assert_eq!(
        read_links(ImportSource::Kutt, KUTT_API.as_bytes()).unwrap(),
        [Ok(handbook), Err(bad(2, password))]
    );
}

#[test]
fn our_own_keeps_everything() {
    let expected = [
        LinkRecord {
            domain: some("go.example"),
            note: some("=cheap"),
            tags: tags(&["mail", "a|b"]),
            created_at: at("2026-03-01T12:30:00Z"),
            expires_at: at("2026-12-31T23:59:59Z"),
            max_clicks: Some(500),
            fallback: some("https://shop.example.com/"),
            redirect: Some(302),
            clicks: Some(12),
            variants: vec![
                ("https://shop.example.com/a".to_owned(), 70),
                ("https://shop.example.com/b".to_owned(), 30),
            ],
            forward_query: true,
            utm: vec![("source".to_owned(), "mail".to_owned())],
            ..link(2, "spring", "https://shop.example.com/sale")
        },
        LinkRecord { code: None, ..link(3, "", "https://example.com/") },
    ];
    assert_eq!(records(ImportSource::Csv, OWN), expected);
}
