//! Exports as their makers write them, our own there and back, and bodies that are none of these.

mod round_trip;
mod samples;

use super::*;

fn at(time: &str) -> Option<Timestamp> {
    time.parse::<Timestamp>().unwrap().into()
}

fn some(text: &str) -> Option<String> {
    text.to_owned().into()
}

fn tags(tags: &[&str]) -> Vec<String> {
    tags.iter().map(|tag| (*tag).to_owned()).collect()
}

/// The only record of `body`.
fn one(source: ImportSource, body: &str) -> Result<LinkRecord, BadRecord> {
    let mut records = read_links(source, body.as_bytes()).unwrap();
    assert_eq!(records.len(), 1, "{body}");
    records.remove(0)
}

#[test]
fn names_lead_back_to_their_sources() {
    for source in ImportSource::ALL {
        assert_eq!(ImportSource::from_name(source.name()), Some(source));
    }
    assert_eq!(ImportSource::from_name("tinyurl"), None);
}

#[test]
fn an_unreadable_body_says_why() {
    let quote = "url,note\nhttps://a.example,x\nhttps://b.example,\"y\nhttps://c.example,z\n";
    for (source, body, why) in [
        (ImportSource::Csv, &b""[..], "the body is empty"),
        (ImportSource::Csv, b"\xef\xbb\xbf \r\n", "the body is empty"),
        (
            ImportSource::Bitly,
            b"Link,Long \xe9",
            "the body must be UTF-8; it is not from byte 10 on",
        ),
        (ImportSource::Kutt, b"address,url\n", "the header must name a column `target`"),
        (
            ImportSource::Shlink,
            b"longUrl,title\n",
            "the header must name a column `shortCode` or `shortUrl`",
        ),
        (ImportSource::Csv, b"code\n", "the header must name a column `url`"),
        (
            ImportSource::Csv,
            quote.as_bytes(),
            "a quote opened in the record at line 3 is never closed",
        ),
        (ImportSource::Csv, b"\"url", "a quote opened in the record at line 1 is never closed"),
        (ImportSource::Kutt, b"{\"data\":\n[}", "the JSON is broken at line 2"),
        (ImportSource::Kutt, b"{\"error\":\"no such key\"}", "the JSON holds no list of links"),
        (ImportSource::Shlink, b"{}", "the JSON holds no list of links"),
    ] {
        let unreadable = read_links(source, body).unwrap_err();
        assert_eq!(unreadable.to_string(), why, "{}", String::from_utf8_lossy(body));
    }
}

#[test]
fn our_own_format_has_no_column_that_would_be_lost_in_silence() {
    for (header, name) in [("url,expiry", "expiry"), ("url,code,Code", "Code"), ("url,", "")] {
        let unreadable = read_links(ImportSource::Csv, header.as_bytes()).unwrap_err();
        assert_eq!(unreadable, ImportError::StrayColumn { name: name.to_owned() }, "{header}");
    }
}

#[test]
fn a_bad_record_says_what_its_cell_must_be() {
    let time = "a time, like 2026-01-31T12:00:00Z";
    let variants = "weights and URLs, like 70 https://a.example|30 https://b.example";
    for (column, cell, rule) in [
        ("createdAt", "yesterday", time),
        ("expiresAt", "2026-02-30", time),
        ("maxClicks", "many", "a whole number"),
        ("clicks", "-1", "a whole number"),
        ("redirect", "99999", "a status, like 302"),
        ("variants", "https://b.example", variants),
        ("variants", "1 https://a.example|x https://b.example", variants),
        ("forwardQuery", "maybe", "true or false"),
        ("utm", "mail", "names and values, like source=mail|medium=footer"),
    ] {
        let body = format!("url,{column}\nhttps://a.example,{cell}");
        let problem = format!("`{column}` must be {rule}");
        assert_eq!(one(ImportSource::Csv, &body), Err(BadRecord { line: 2, problem }));
    }
}

#[test]
fn a_bad_record_leaves_its_neighbours_alone() {
    let body = "code,url\n\na,https://a.example\r\n,\nb,\nc,https://c.example,\"x\ny\"\nd,\"https://d.example\n\"\ne,https://e.example";
    let read = read_links(ImportSource::Csv, body.as_bytes()).unwrap();
    let seen: Vec<_> = read
        .iter()
        .map(|record| match record {
            Ok(record) => format!("{} {}", record.line, record.code.as_deref().unwrap_or("-")),
            Err(bad) => bad.to_string(),
        })
        .collect();
    let shape = "line 6: it has 3 cells where the header has 2";
    assert_eq!(seen, ["3 a", "line 5: it leads nowhere", shape, "8 d", "10 e"]);
}

#[test]
fn a_line_like_the_mark_we_read_up_to_hides_nothing_behind_it() {
    let read = read_links(ImportSource::Csv, b"url\n\0end\nhttps://b.example\n\0end").unwrap();
    let urls: Vec<_> = read.into_iter().map(|record| record.unwrap().url).collect();
    assert_eq!(urls, ["\0end", "https://b.example", "\0end"]);
}

#[test]
fn headers_are_known_however_they_are_spelled() {
    for header in
        ["Bitlink,Long URL", "bitlink,long_url", " \"BITLINK\" ,LongURL", "Short URL,Original URL"]
    {
        let body = format!("\u{feff}{header}\ngo.example/x,https://a.example");
        let record = one(ImportSource::Bitly, &body).unwrap();
        assert_eq!((record.code, record.domain), (some("x"), some("go.example")), "{header}");
    }
}

#[test]
fn spreadsheets_that_part_cells_otherwise_are_understood() {
    for body in
        ["url;note\nhttps://a.example;\"x, y; z\"", "url\tnote\nhttps://a.example\t\"x, y; z\""]
    {
        assert_eq!(one(ImportSource::Csv, body).unwrap().note, some("x, y; z"), "{body}");
    }
    assert_eq!(one(ImportSource::Csv, "url\nhttps://a.example").unwrap().url, "https://a.example");
}

#[test]
fn a_list_cut_out_of_an_answer_is_as_good_as_the_answer() {
    let link = r#"{"address": "x", "target": "https://a.example", "visit_count": 3}"#;
    for body in [format!("[{link}]"), format!("  {{\"data\": [{link}]}}")] {
        let record = one(ImportSource::Kutt, &body).unwrap();
        assert_eq!((record.line, record.code, record.clicks), (1, some("x"), Some(3)), "{body}");
    }
    let bad = one(ImportSource::Kutt, "[7]").unwrap_err();
    assert_eq!(bad.to_string(), "line 1: it is not an object");
}

#[test]
fn a_link_from_elsewhere_keeps_its_code_or_stays_out() {
    for (source, body) in [
        (ImportSource::Kutt, r#"[{"target": "https://a.example"}]"#),
        (ImportSource::Kutt, "address,target\n,https://a.example"),
        (ImportSource::Yourls, "source,target\n/,https://a.example"),
    ] {
        assert_eq!(one(source, body).unwrap_err().problem, "it has no code", "{body}");
    }
    assert_eq!(one(ImportSource::Csv, "url\nhttps://a.example").unwrap().code, None);
}

#[test]
fn a_short_link_without_a_code_is_a_bad_record() {
    let bad =
        one(ImportSource::Bitly, "Link,Long URL\nhttps://bit.ly/,https://a.example").unwrap_err();
    assert_eq!(bad.problem, "`Link` must be a short link with its code");
}
