//! Links themselves: created, found, amended, listed.

use domain::Timestamp;
use domain::accounts::UserId;
use domain::links::link::Variant;
use domain::links::{Code, Link, LinkBlock, LinkPreview, LinkTerms, Redirect, Tags, Target, Utm};
use links::store::{AmendOutcome, CreateOutcome, DedupKey, LinkFilter, OwnerList};
use local::faults::Fault;
use tests::Lab;

use super::{links, links_in_lab};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn link(code: &str) -> Link {
    let terms = LinkTerms::plain(Target::stored("https://example.org/"));
    let owner = Some(UserId::parse("ada").unwrap());
    Link::new("", Code::parse(code).unwrap(), owner, terms, at(100))
}

fn same(replaces: Option<&str>) -> DedupKey {
    let replaces = replaces.map(|code| Code::parse(code).unwrap());
    DedupKey { key: "ada##hash".to_owned(), replaces }
}

#[tokio::test(start_paused = true)]
async fn what_is_written_reads_back_the_same() {
    let lab = Lab::new();
    let target = |url: &str| Target::stored(url);
    let full = Link {
        domain: "go.example".to_owned(),
        terms: LinkTerms {
            long_url: target("https://example.org/?a=1"),
            variants: vec![
                Variant { url: target("https://a.example/"), weight: 1 },
                Variant { url: target("https://b.example/"), weight: 1000 },
            ],
            redirect: Redirect::Temporary,
            expires_at: Some(at(900)),
            max_clicks: Some(7),
            fallback: Some(target("https://c.example/")),
            forward_query: true,
            utm: Utm::new([("source".to_owned(), "mail".to_owned())]).unwrap(),
            tags: Tags::new(&["b".to_owned(), "a".to_owned()]).unwrap(),
            note: Some("A note".to_owned()),
        },
        warnings: vec!["ip-host".to_owned()],
        preview: LinkPreview {
            title: Some("t".to_owned()),
            description: Some("d".to_owned()),
            image: Some("i".to_owned()),
        },
        scanned_at: Some(at(101)),
        updated_at: at(102),
        deleted_at: Some(at(103)),
        blocked: Some(LinkBlock { at: at(104), reason: "r".to_owned() }),
        spent_at: Some(at(105)),
        ..link("abc")
    };
    for written in [full, link("abc"), Link { owner: None, ..link("anonymous") }] {
        let made = links(&lab).create(&written, None, None, "t").await.unwrap();
        assert_eq!(made, CreateOutcome::Created);
        let found = links(&lab).find(&written.domain, &written.code).await.unwrap();
        assert_eq!(found, Some(written));
    }
    assert_eq!(links(&lab).find("other", &Code::parse("abc").unwrap()).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_code_is_taken_once_and_a_namespace_is_its_own() {
    let (_lab, links) = links_in_lab();
    assert_eq!(links.create(&link("abc"), None, None, "t1").await.unwrap(), CreateOutcome::Created);
    assert_eq!(links.create(&link("abc"), None, None, "t2").await.unwrap(), CreateOutcome::Taken);
    let taken = links.create(&link("abc"), Some(&same(None)), None, "t3").await.unwrap();
    assert_eq!(taken, CreateOutcome::Taken);
    let there = Link { domain: "go.example".to_owned(), ..link("abc") };
    assert_eq!(links.create(&there, None, None, "t4").await.unwrap(), CreateOutcome::Created);
}

#[tokio::test(start_paused = true)]
async fn a_put_whose_answer_was_lost_knows_its_own_token() {
    for fault in [Fault::CommitThenTimeout, Fault::Throttle] {
        for with_same in [false, true] {
            let lab = Lab::new();
            let same = with_same.then(|| same(None));
            lab.cloud.faults.inject(0, fault);
            let made = links(&lab).create(&link("abc"), same.as_ref(), None, "t").await.unwrap();
            assert_eq!(made, CreateOutcome::Created, "{fault:?} {with_same}");
            assert!(!lab.cloud.faults.is_pending());
            let next = link("abc").deleted(at(200));
            lab.cloud.faults.inject(0, fault);
            assert_eq!(
                links(&lab).amend(&next, "t2").await.unwrap(),
                AmendOutcome::Amended,
                "{fault:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_again_meets_the_first_and_replaces_only_what_it_names() {
    let (_lab, links) = links_in_lab();
    let code = |text: &str| Code::parse(text).unwrap();
    let tokens = std::cell::Cell::new(0);
    let make = |name: &'static str, same: DedupKey| {
        tokens.set(tokens.get() + 1);
        let (links, token) = (links.clone(), format!("token-{}", tokens.get()));
        async move { links.create(&link(name), Some(&same), None, &token).await.unwrap() }
    };
    assert_eq!(make("first", same(None)).await, CreateOutcome::Created);
    assert_eq!(make("second", same(None)).await, CreateOutcome::Existing(code("first")));
    assert_eq!(make("second", same(Some("other"))).await, CreateOutcome::Existing(code("first")));
    assert_eq!(links.find("", &code("second")).await.unwrap(), None, "nothing was written");
    assert_eq!(make("second", same(Some("first"))).await, CreateOutcome::Created);
    assert_eq!(make("third", same(Some("first"))).await, CreateOutcome::Existing(code("second")));
    // A code that is taken leaves what the user has where it is.
    assert_eq!(make("second", same(Some("second"))).await, CreateOutcome::Taken);
    assert_eq!(make("third", same(None)).await, CreateOutcome::Existing(code("second")));
}

#[tokio::test(start_paused = true)]
async fn an_amendment_follows_the_version_it_names() {
    let (_lab, links) = links_in_lab();
    let first = link("abc");
    assert_eq!(
        links.amend(&first.deleted(at(1)), "t").await.unwrap(),
        AmendOutcome::VersionChanged,
        "no link"
    );
    links.create(&first, None, None, "t").await.unwrap();
    let second = first.blocked("x", at(200));
    assert_eq!(links.amend(&second, "t2").await.unwrap(), AmendOutcome::Amended);
    assert_eq!(
        links.amend(&first.deleted(at(201)), "t3").await.unwrap(),
        AmendOutcome::VersionChanged
    );
    assert_eq!(links.find("", &first.code).await.unwrap(), Some(second.clone()));
    let third = second.unblocked(at(202));
    assert_eq!(links.amend(&third, "t4").await.unwrap(), AmendOutcome::Amended);
    assert_eq!(links.find("", &first.code).await.unwrap(), Some(third));
}

#[tokio::test(start_paused = true)]
async fn a_list_is_its_owners_and_its_states() {
    let (_lab, links) = links_in_lab();
    let eve = UserId::parse("eve").unwrap();
    let ada = UserId::parse("ada").unwrap();
    let others = Link { owner: Some(eve), ..link("eves") };
    for made in [link("one"), link("two"), others, Link { owner: None, ..link("none") }] {
        links.create(&made, None, None, made.code.as_str()).await.unwrap();
    }
    links.amend(&link("two").deleted(at(200)), "t").await.unwrap();
    for (deleted, expected) in [(false, "one"), (true, "two")] {
        let list = OwnerList { owner: &ada, deleted };
        let page = links.list(list, &LinkFilter::default(), 10, None).await.unwrap();
        let codes: Vec<_> = page.items.iter().map(|link| link.code.as_str()).collect();
        assert_eq!((codes, page.next), (vec![expected], None));
    }
}

#[tokio::test(start_paused = true)]
async fn codes_are_leased_in_ranges_that_never_overlap_under_one_key() {
    use domain::links::code::CodeKey;
    let (lab, links) = links_in_lab();
    let keys: Vec<CodeKey> = (0..20).map(|n| CodeKey::from_bytes([n; 32])).collect();
    let leases = futures::future::join_all(keys.iter().map(|key| links.lease_codes(key))).await;
    let mut seen = std::collections::BTreeSet::new();
    let mut key_bytes = None;
    for lease in leases {
        let (key, mut range) = lease.unwrap();
        assert_eq!(key_bytes.get_or_insert(*key.as_bytes()), key.as_bytes(), "one key for all");
        while let Some(code) = range.next_code(&key) {
            assert!(seen.insert(code.as_str().to_owned()), "{} twice", code.as_str());
        }
    }
    assert!(seen.len() > 19_000, "{}", seen.len());
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    let (key, mut range) = links.lease_codes(&CodeKey::from_bytes([99; 32])).await.unwrap();
    assert!(
        !seen.contains(range.next_code(&key).unwrap().as_str()),
        "a repeated lease is a new one"
    );
}

#[tokio::test(start_paused = true)]
async fn the_last_code_of_all_is_the_last() {
    use aws_sdk_dynamodb::types::AttributeValue::{B, N, S};
    use domain::links::code::{ALL_CODES, CodeKey, LEASE_SIZE};
    let lab = Lab::new();
    let row = |next: u64| {
        [
            ("pk", S("codes".to_owned())),
            ("sk", S("codes".to_owned())),
            ("code_key", B(aws_sdk_dynamodb::primitives::Blob::new([7; 32]))),
            ("next_number", N(next.to_string())),
        ]
    };
    super::put(&lab, &row(ALL_CODES - LEASE_SIZE)).await;
    let fresh = CodeKey::from_bytes([1; 32]);
    assert!(links(&lab).lease_codes(&fresh).await.is_ok());
    assert!(links(&lab).lease_codes(&fresh).await.is_err(), "no number is past the last");
}
