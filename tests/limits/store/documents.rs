//! Documents: a change wins over the version it was made from, and tells every node.

use domain::Timestamp;
use futures::future::join_all;
use local::faults::Fault;
use store::limits::{DocumentPart, DocumentVersions, LimitsDocument, SaveOutcome};
use tests::Lab;

use super::{NOW, at, limits, limits_in_lab};

const PARTS: [DocumentPart; 3] =
    [DocumentPart::Rules, DocumentPart::Firewall, DocumentPart::Blocks];

fn document(version: u64, body: &str) -> LimitsDocument {
    LimitsDocument {
        id: "rule/one".to_owned(),
        version,
        body: body.to_owned(),
        changed_by: "ada".to_owned(),
        changed_at: at(NOW),
        expires_at: None,
    }
}

/// How often a part has changed, as nodes hear of it.
async fn changes(lab: &Lab, part: DocumentPart) -> u64 {
    let DocumentVersions { rules, firewall } = limits(lab).versions().await.unwrap();
    if part == DocumentPart::Rules { rules } else { firewall }
}

#[tokio::test(start_paused = true)]
async fn a_new_document_is_made_once_and_read_as_it_was_written() {
    for part in PARTS {
        let (lab, rows) = limits_in_lab();
        assert_eq!(changes(&lab, part).await, 0);
        let mut first = document(1, "{}");
        first.expires_at = Some(Timestamp::from_millisecond(NOW + 1_500).unwrap());
        assert_eq!(rows.save(part, &first, "one").await.unwrap(), SaveOutcome::Saved);
        let other = document(1, "other");
        assert_eq!(
            rows.save(part, &other, "two").await.unwrap(),
            SaveOutcome::VersionConflict,
            "{part:?}"
        );
        let found = rows.document(part, "rule/one").await.unwrap();
        assert_eq!(found.as_ref(), Some(&first));
        assert_eq!(rows.documents(part).await.unwrap(), [first]);
        assert_eq!(changes(&lab, part).await, 1, "{part:?}: who lost has changed nothing");
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_changes_of_a_version_one_wins() {
    for part in PARTS {
        let (lab, rows) = limits_in_lab();
        rows.save(part, &document(1, "first"), "one").await.unwrap();
        let bodies = ["a", "b", "c"];
        let tries = bodies.map(|body| {
            let rows = rows.clone();
            async move { rows.save(part, &document(2, body), body).await.unwrap() }
        });
        let saved = join_all(tries).await;
        let won: Vec<_> =
            bodies.iter().zip(&saved).filter(|(_, s)| **s == SaveOutcome::Saved).collect();
        assert_eq!(won.len(), 1, "{part:?}: {saved:?}");
        let found = rows.document(part, "rule/one").await.unwrap().unwrap();
        assert_eq!((found.version, found.body.as_str()), (2, *won[0].0));
        assert_eq!(changes(&lab, part).await, 2);
        let skipped = rows.save(part, &document(4, "d"), "d").await.unwrap();
        assert_eq!(skipped, SaveOutcome::VersionConflict, "{part:?}: there is no third version");
    }
}

#[tokio::test(start_paused = true)]
async fn a_document_is_removed_at_the_version_that_was_read_and_at_no_other() {
    for part in PARTS {
        let (lab, rows) = limits_in_lab();
        let remove = |version, token| rows.remove(part, "rule/one", version, token);
        assert_eq!(
            remove(1, "none").await.unwrap(),
            SaveOutcome::VersionConflict,
            "{part:?}: there is none"
        );
        rows.save(part, &document(1, "first"), "one").await.unwrap();
        rows.save(part, &document(2, "second"), "two").await.unwrap();
        assert_eq!(remove(1, "early").await.unwrap(), SaveOutcome::VersionConflict, "{part:?}");
        assert_eq!(changes(&lab, part).await, 2);
        assert_eq!(remove(2, "right").await.unwrap(), SaveOutcome::Saved);
        assert_eq!(rows.document(part, "rule/one").await.unwrap(), None);
        assert_eq!(changes(&lab, part).await, 3);
        assert_eq!(remove(2, "again").await.unwrap(), SaveOutcome::VersionConflict);
        let late = rows.save(part, &document(3, "late"), "late").await.unwrap();
        assert_eq!(late, SaveOutcome::VersionConflict, "{part:?}: what is gone is not changed");
    }
}

#[tokio::test(start_paused = true)]
async fn rules_and_firewall_tell_of_their_own_changes_only() {
    let (_lab, rows) = limits_in_lab();
    for (part, rules, firewall) in
        [(DocumentPart::Rules, 1, 0), (DocumentPart::Firewall, 1, 1), (DocumentPart::Blocks, 1, 2)]
    {
        rows.save(part, &document(1, ""), &format!("{part:?}")).await.unwrap();
        assert_eq!(rows.versions().await.unwrap(), DocumentVersions { rules, firewall });
    }
    assert_eq!(
        rows.documents(DocumentPart::Rules).await.unwrap().len(),
        1,
        "each part has its own"
    );
}

#[tokio::test(start_paused = true)]
async fn a_change_whose_answer_was_lost_is_made_once() {
    for fault in
        [Fault::CommitThenTimeout, Fault::CutBefore, Fault::ServerError, Fault::TransactionConflict]
    {
        let (lab, rows) = limits_in_lab();
        lab.cloud.faults.inject(0, fault);
        let saved = rows.save(DocumentPart::Rules, &document(1, "first"), "one").await.unwrap();
        assert_eq!(saved, SaveOutcome::Saved, "{fault:?}");
        assert_eq!(changes(&lab, DocumentPart::Rules).await, 1, "{fault:?}");
        lab.cloud.faults.inject(0, fault);
        let removed = rows.remove(DocumentPart::Rules, "rule/one", 1, "two").await.unwrap();
        assert_eq!(removed, SaveOutcome::Saved, "{fault:?}");
        assert_eq!(changes(&lab, DocumentPart::Rules).await, 2, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_request_again_changes_nothing() {
    let (lab, rows) = limits_in_lab();
    for _ in 0..3 {
        let saved = rows.save(DocumentPart::Firewall, &document(1, "first"), "one").await.unwrap();
        assert_eq!(saved, SaveOutcome::Saved);
    }
    assert_eq!(changes(&lab, DocumentPart::Firewall).await, 1);
    for _ in 0..3 {
        let removed = rows.remove(DocumentPart::Firewall, "rule/one", 1, "two").await.unwrap();
        assert_eq!(removed, SaveOutcome::Saved);
    }
    assert_eq!(changes(&lab, DocumentPart::Firewall).await, 2);
}
