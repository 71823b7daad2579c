//! Clicks, visitors and the scan's place.

use std::collections::BTreeMap;

use domain::Timestamp;
use domain::links::counts::{ClickCounts, LinkDay};
use domain::links::{Code, Link, LinkPreview, LinkTerms, Target};
use links::store::CountOutcome;
use links::store::Links;
use local::faults::Fault;

use super::links_in_lab;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn day(code: &str, day: &str) -> LinkDay {
    LinkDay { domain: String::new(), code: code.to_owned(), day: day.to_owned() }
}

fn code(text: &str) -> Code {
    Code::parse(text).unwrap()
}

fn clicks(clicks: u64) -> ClickCounts {
    let countries = BTreeMap::from([("DE".to_owned(), clicks)]);
    ClickCounts { clicks, bots: 1, countries, ..ClickCounts::default() }
}

async fn count(
    links: &Links,
    batch: &str,
    counts: &BTreeMap<LinkDay, ClickCounts>,
) -> CountOutcome {
    let tokens = std::cell::Cell::new(0);
    let token = || {
        tokens.set(tokens.get() + 1);
        format!("{batch}-{}-{:p}", tokens.get(), counts)
    };
    links.count(batch, counts, at(100), token).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_counted_under_its_name_once() {
    let (_lab, links) = links_in_lab();
    let counts = BTreeMap::from([
        (day("abc", "2026-03-01"), clicks(2)),
        (day("abc", "2026-03-02"), clicks(3)),
        (day("other", "2026-03-01"), clicks(50)),
    ]);
    assert_eq!(count(&links, "b1", &counts).await, CountOutcome::Counted);
    let again = counts.clone();
    assert_eq!(count(&links, "b1", &again).await, CountOutcome::AlreadyCounted);
    assert_eq!(count(&links, "b2", &counts.clone()).await, CountOutcome::Counted);
    let seen = links.statistics("", &code("abc"), "2026-03-01", "2026-03-02").await.unwrap();
    assert_eq!((seen.counts().clicks, seen.counts().countries["DE"]), (10, 10));
    assert_eq!(seen.days["2026-03-01"].counts.clicks, 4);
    let one = links.statistics("", &code("abc"), "2026-03-02", "2026-03-02").await.unwrap();
    assert_eq!((one.counts().clicks, one.days.len()), (6, 1));
    assert_eq!(links.totals("", &code("abc")).await.unwrap().clicks, 10);
    assert_eq!(links.totals("", &code("other")).await.unwrap().clicks, 100, "spread over shards");
    assert_eq!(links.totals("go.example", &code("abc")).await.unwrap().clicks, 0);
}

#[tokio::test(start_paused = true)]
async fn a_batch_too_large_for_one_transaction_is_counted_once_too() {
    let (_lab, links) = links_in_lab();
    let counts: BTreeMap<_, _> =
        (0..100).map(|n| (day(&format!("link-{n}"), "2026-03-01"), clicks(1))).collect();
    assert_eq!(count(&links, "b1", &counts).await, CountOutcome::Counted);
    assert_eq!(count(&links, "b1", &counts.clone()).await, CountOutcome::AlreadyCounted);
    for n in 0..100 {
        let code = code(&format!("link-{n}"));
        assert_eq!(links.totals("", &code).await.unwrap().clicks, 1, "{n}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_count_whose_answer_was_lost_is_made_once() {
    for fault in [Fault::CommitThenTimeout, Fault::TransactionConflict, Fault::Throttle] {
        let (lab, links) = links_in_lab();
        let counts = BTreeMap::from([(day("abc", "2026-03-01"), clicks(2))]);
        lab.cloud.faults.inject(0, fault);
        count(&links, "b1", &counts).await;
        assert!(!lab.cloud.faults.is_pending());
        assert_eq!(links.totals("", &code("abc")).await.unwrap().clicks, 2, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn visitors_who_are_added_at_the_same_time_are_all_there_and_once() {
    let (_lab, links) = links_in_lab();
    let day = day("abc", "2026-03-01");
    let visitor = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let lots: Vec<Vec<u64>> =
        (0..8).map(|lot| (lot * 10..lot * 10 + 20).map(visitor).collect()).collect();
    for added in
        futures::future::join_all(lots.iter().map(|lot| links.add_visitors(&day, lot))).await
    {
        added.unwrap();
    }
    for lot in &lots {
        links.add_visitors(&day, lot).await.unwrap();
    }
    let seen = links.statistics("", &code("abc"), &day.day, &day.day).await.unwrap();
    let visitors = seen.visitors();
    assert!((88..=92).contains(&visitors), "{visitors} of 90");
}

#[tokio::test(start_paused = true)]
async fn a_link_is_spent_once_and_only_for_the_number_that_was_counted_to() {
    let (_lab, links) = links_in_lab();
    let terms =
        LinkTerms { max_clicks: Some(5), ..LinkTerms::plain(Target::stored("https://a.example/")) };
    let made = Link::new("", code("abc"), None, terms, at(100));
    links.mark_spent("", &made.code, 5, at(101)).await.unwrap();
    assert_eq!(links.find("", &made.code).await.unwrap(), None, "no row comes from nothing");
    links.create(&made, None, None, "t").await.unwrap();
    links.mark_spent("", &made.code, 4, at(102)).await.unwrap();
    assert_eq!(links.find("", &made.code).await.unwrap(), Some(made.clone()), "refilled meanwhile");
    links.mark_spent("", &made.code, 5, at(103)).await.unwrap();
    links.mark_spent("", &made.code, 5, at(104)).await.unwrap();
    let spent = links.find("", &made.code).await.unwrap().unwrap();
    assert_eq!((spent.spent_at, spent.version), (Some(at(103)), 2));
}

#[tokio::test(start_paused = true)]
async fn the_scan_goes_on_where_it_stopped_and_the_faster_run_has_its_word() {
    let (_lab, links) = links_in_lab();
    assert_eq!(links.scan_position().await.unwrap(), (None, 0));
    links.save_scan_position(Some("here"), 0).await.unwrap();
    links.save_scan_position(Some("there"), 0).await.unwrap();
    assert_eq!(links.scan_position().await.unwrap(), (Some("here".to_owned()), 1));
    links.save_scan_position(None, 1).await.unwrap();
    assert_eq!(links.scan_position().await.unwrap(), (None, 2));
}

#[tokio::test(start_paused = true)]
async fn the_scan_comes_by_every_link_once_and_by_one_destination_in_one_go() {
    let (_lab, links) = links_in_lab();
    for n in 0..60 {
        let terms = LinkTerms::plain(Target::stored(&format!("https://example.org/{}", n % 7)));
        let made = Link::new("", code(&format!("link-{n:02}")), None, terms, at(100 + n));
        links.create(&made, None, None, made.code.as_str()).await.unwrap();
        if n % 10 == 0 {
            let deleted = made.deleted(at(200));
            links.amend(&deleted, "t").await.unwrap();
            if n % 20 == 0 {
                let late = at(200 + domain::links::link::RESTORE_SECONDS);
                links.amend(&deleted.purged(late).unwrap(), "u").await.unwrap();
            }
        }
    }
    let (mut seen, mut from) = (Vec::new(), None);
    loop {
        let page = links.scan_page(from.as_deref(), 7).await.unwrap();
        seen.extend(page.links);
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    let codes: std::collections::BTreeSet<_> =
        seen.iter().map(|seen| seen.link.code.clone()).collect();
    assert_eq!((seen.len(), codes.len()), (57, 57), "all but the forgotten ones");
    let changes = seen.windows(2).filter(|two| two[0].destination != two[1].destination).count();
    assert_eq!(changes, 7, "each destination is met once, and so are the deleted ones");
}

#[tokio::test(start_paused = true)]
async fn a_preview_is_noted_for_the_version_that_was_looked_at() {
    let (_lab, links) = links_in_lab();
    let made = Link::new("", code("abc"), None, plain(), at(100));
    links.create(&made, None, None, "t").await.unwrap();
    let titled =
        |title: &str| LinkPreview { title: Some(title.to_owned()), ..LinkPreview::default() };
    let seen = made.scanned(titled("One"), at(200));
    links.save_preview(&seen).await.unwrap();
    assert_eq!(links.find("", &made.code).await.unwrap(), Some(seen.clone()));
    let silent = made.scanned(LinkPreview::default(), at(300));
    links.save_preview(&silent).await.unwrap();
    assert_eq!(links.find("", &made.code).await.unwrap(), Some(silent.clone()), "taken away");
    let edited = silent.blocked("x", at(400));
    links.amend(&edited, "u").await.unwrap();
    links.save_preview(&made.scanned(titled("Late"), at(500))).await.unwrap();
    assert_eq!(links.find("", &made.code).await.unwrap(), Some(edited));
}

fn plain() -> LinkTerms {
    LinkTerms::plain(Target::stored("https://a.example/"))
}
