//! Reports: one for each person, on the list until an admin decides, and one ruling each.

use domain::Timestamp;
use domain::feed::{PostReport, ReportDraft, Ruling};
use feed::store::ReportOutcome;
use local::faults::Fault;

use super::{at, feed_in_lab, id, public, user};

async fn report(store: &feed::store::FeedStore, n: u64, by: &str, now: Timestamp) -> PostReport {
    let post = store.post(id(n)).await.unwrap().unwrap().post;
    let draft = ReportDraft { reason: "SPAM".to_owned(), note: Some(by.to_owned()) };
    draft.checked(&post, user(by), now).unwrap()
}

#[tokio::test(start_paused = true)]
async fn who_reports_twice_has_reported_once() {
    let (_lab, store) = feed_in_lab();
    public(&store, 1).await;
    let first = report(&store, 1, "bob", at(1)).await;
    assert_eq!(store.report(&first).await.unwrap(), ReportOutcome::Created);
    let again = report(&store, 1, "bob", at(2)).await;
    assert_eq!(store.report(&again).await.unwrap(), ReportOutcome::Existing(first.clone()));
    assert_eq!(store.reports_of(id(1)).await.unwrap(), [first]);
}

#[tokio::test(start_paused = true)]
async fn a_report_whose_answer_was_lost_is_recognised() {
    let (lab, store) = feed_in_lab();
    public(&store, 1).await;
    let first = report(&store, 1, "bob", at(1)).await;
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    assert_eq!(store.report(&first).await.unwrap(), ReportOutcome::Created);
    assert!(!lab.cloud.faults.is_pending());
}

#[tokio::test(start_paused = true)]
async fn open_reports_are_listed_by_time_page_by_page() {
    let (_lab, store) = feed_in_lab();
    public(&store, 1).await;
    public(&store, 2).await;
    let mut all = Vec::new();
    for (second, post, who) in [(3, 1, "bob"), (1, 2, "bob"), (2, 1, "eve"), (4, 2, "eve")] {
        let one = report(&store, post, who, at(second)).await;
        store.report(&one).await.unwrap();
        all.push(one);
    }
    all.sort_by_key(|report| report.created_at);
    let first = store.open_reports(None, 3).await.unwrap();
    assert_eq!(first.reports, all[..3]);
    let rest = store.open_reports(first.next.as_deref(), 3).await.unwrap();
    assert_eq!((rest.reports, rest.next), (all[3..].to_vec(), None));
}

#[tokio::test(start_paused = true)]
async fn the_first_ruling_stands_and_takes_a_report_off_the_list() {
    let (_lab, store) = feed_in_lab();
    let post = public(&store, 1).await.post;
    let one = report(&store, 1, "bob", at(1)).await;
    let ruled = |ruling| one.with_ruling(ruling, &post, user("root"), at(2)).unwrap().0;
    assert!(!store.rule(&ruled(Ruling::Upheld)).await.unwrap(), "there is no such report");
    store.report(&one).await.unwrap();
    assert!(store.rule(&ruled(Ruling::Upheld)).await.unwrap());
    assert!(!store.rule(&ruled(Ruling::Dismissed)).await.unwrap());
    assert_eq!(store.reports_of(id(1)).await.unwrap(), [ruled(Ruling::Upheld)]);
    assert_eq!(store.open_reports(None, 10).await.unwrap().reports, []);
    // A settled report is not settled again.
    let again = store.report(&one).await.unwrap();
    assert_eq!(again, ReportOutcome::Existing(ruled(Ruling::Upheld)));
    assert_eq!(store.open_reports(None, 10).await.unwrap().reports, []);
}
