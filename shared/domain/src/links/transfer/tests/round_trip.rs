//! What is written is read again to the letter, and random bytes are survived.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;

/// Text of everything that means something to CSV, to us or to a spreadsheet, and everything else.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        r#"[=+\-@'|\\,;"\t\r\n \u{0}a1＝]{1,8}"#,
        "[=+@'-]{0,3}\\PC{1,12}",
        any::<String>().prop_filter("not empty", |text| !text.is_empty()),
    ]
}

fn time() -> impl Strategy<Value = Timestamp> {
    let seconds = Timestamp::MIN.as_second() + 1..Timestamp::MAX.as_second();
    (seconds, 0..1_000_000_000_i32).prop_map(|(second, nano)| Timestamp::new(second, nano).unwrap())
}

prop_compose! {
    fn record()(
        (code, url, domain, note, fallback) in
            (option::of(text()), text(), option::of(text()), option::of(text()), option::of(text())),
        tags in vec(text(), 0..4),
        (created_at, expires_at) in (option::of(time()), option::of(time())),
        (max_clicks, clicks, redirect) in (any::<Option<u64>>(), any::<Option<u64>>(), any::<Option<u16>>()),
        variants in vec((any::<String>(), any::<u32>()), 0..3),
        forward_query in any::<bool>(),
        utm in vec(("[a-z]{1,8}", any::<String>()), 0..3),
    ) -> LinkRecord {
        LinkRecord {
            line: 0, code, url, domain, note, tags, created_at, expires_at, max_clicks, fallback,
            redirect, clicks, variants, forward_query, utm,
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again_to_the_letter(records in vec(record(), 0..5)) {
        let file = csv_header() + &write_csv(records.iter());
        let back = super::read_links(ImportSource::Csv, file.as_bytes()).unwrap();
        let mut lines: Vec<_> = back.iter().map(|record| record.as_ref().unwrap().line).collect();
        let back: Vec<_> = back.into_iter().map(|record| LinkRecord { line: 0, ..record.unwrap() }).collect();
        prop_assert_eq!(back, records);
        prop_assert!(lines.first().is_none_or(|first| *first == 2));
        let count = lines.len();
        lines.dedup();
        prop_assert!(lines.is_sorted() && lines.len() == count);
    }

    #[test]
    fn no_cell_that_is_written_is_a_formula(record in record()) {
        let file = write_csv(std::iter::once(&record));
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(file.as_bytes());
        for cell in &reader.records().next().unwrap().unwrap() {
            prop_assert!(!cell.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']));
        }
    }

    #[test]
    fn no_body_makes_reading_panic(bytes in vec(any::<u8>(), 0..200), noise in text()) {
        for source in ImportSource::ALL {
            let _ = super::read_links(source, &bytes);
            for start in ["url,code\n", "Link,Long URL\n", "[{\"target\":", "{\"data\":[", "\""] {
                let _ = super::read_links(source, format!("{start}{noise}").as_bytes());
            }
        }
    }

    #[test]
    fn a_damaged_export_never_makes_reading_panic(at in 0_usize..2000, byte in any::<u8>()) {
        for (source, body) in samples::ALL {
            let mut body = body.as_bytes().to_vec();
            let at = at % body.len();
            body[at] = byte;
            let _ = super::read_links(source, &body);
            let _ = super::read_links(source, &body[..at]);
        }
    }
}

#[test]
fn the_sample_of_our_own_is_what_we_write() {
    let records: Vec<_> = super::read_links(ImportSource::Csv, samples::OWN.as_bytes())
        .unwrap()
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let written = csv_header() + &write_csv(records.iter());
    assert_eq!(written.replace("\r\n", "\n"), samples::OWN);
}
