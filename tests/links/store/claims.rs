//! Custom domains, reports and the blocklist.

use domain::Timestamp;
use domain::accounts::UserId;
use domain::links::{Code, DomainClaim, DomainName};
use links::store::{AbuseReport, BlocklistEntry, ProofOutcome};
use local::faults::Fault;

use super::links_in_lab;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn claim(owner: &str, token: &str) -> DomainClaim {
    DomainClaim {
        name: DomainName::parse("go.example").unwrap(),
        owner: UserId::parse(owner).unwrap(),
        token: token.to_owned(),
        created_at: at(100),
        verified_at: None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_stands_as_it_was_first_made_for_each_claimant() {
    let (_lab, links) = links_in_lab();
    let (first, second) = (claim("ada", "one"), claim("ada", "two"));
    assert_eq!(links.claim_domain(&first).await.unwrap(), first);
    assert_eq!(links.claim_domain(&second).await.unwrap(), first);
    assert_eq!(links.claim_domain(&claim("eve", "x")).await.unwrap(), claim("eve", "x"));
    assert_eq!(links.find_claim(&first.name, &first.owner).await.unwrap(), Some(first.clone()));
    assert_eq!(links.list_claims(&first.owner).await.unwrap(), std::slice::from_ref(&first));
    assert_eq!(links.domain_owner(&first.name).await.unwrap(), None);
    assert_eq!(links.find_claim(&first.name, &UserId::parse("bob").unwrap()).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn the_first_to_prove_a_claim_owns_the_domain() {
    let (lab, links) = links_in_lab();
    let (ada, eve) = (claim("ada", "a"), claim("eve", "e"));
    assert_eq!(
        links.prove_claim(&ada, at(200), "t0").await.unwrap(),
        ProofOutcome::Taken,
        "no claim"
    );
    assert_eq!(links.domain_owner(&ada.name).await.unwrap(), None);
    for claim in [&ada, &eve] {
        links.claim_domain(claim).await.unwrap();
    }
    lab.cloud.faults.inject(0, Fault::CommitThenTimeout);
    assert_eq!(links.prove_claim(&ada, at(200), "t1").await.unwrap(), ProofOutcome::Proven);
    assert_eq!(links.prove_claim(&eve, at(201), "t2").await.unwrap(), ProofOutcome::Taken);
    assert_eq!(
        links.prove_claim(&ada, at(202), "t3").await.unwrap(),
        ProofOutcome::Proven,
        "again"
    );
    assert_eq!(links.domain_owner(&ada.name).await.unwrap(), Some(ada.owner.clone()));
    let found = links.find_claim(&eve.name, &eve.owner).await.unwrap().unwrap();
    assert_eq!(found.verified_at, None);
}

#[tokio::test(start_paused = true)]
async fn giving_a_claim_up_takes_only_what_is_the_claimants() {
    let (_lab, links) = links_in_lab();
    let (ada, eve) = (claim("ada", "a"), claim("eve", "e"));
    for claim in [&ada, &eve] {
        links.claim_domain(claim).await.unwrap();
    }
    links.prove_claim(&ada, at(200), "t1").await.unwrap();
    links.release_domain(&eve, "t2").await.unwrap();
    assert_eq!(links.find_claim(&eve.name, &eve.owner).await.unwrap(), None);
    assert_eq!(links.domain_owner(&ada.name).await.unwrap(), Some(ada.owner.clone()));
    // A claimant who wrongly counts as verified takes nothing from the owner.
    links.claim_domain(&eve).await.unwrap();
    let believer = DomainClaim { verified_at: Some(at(300)), ..eve.clone() };
    links.release_domain(&believer, "t3").await.unwrap();
    assert_eq!(links.domain_owner(&ada.name).await.unwrap(), Some(ada.owner.clone()));
    let proven = links.find_claim(&ada.name, &ada.owner).await.unwrap().unwrap();
    links.release_domain(&proven, "t4").await.unwrap();
    links.release_domain(&proven, "t5").await.unwrap();
    assert_eq!(links.domain_owner(&ada.name).await.unwrap(), None);
    assert_eq!(links.find_claim(&ada.name, &ada.owner).await.unwrap(), None);
    assert_eq!(links.prove_claim(&eve, at(400), "t6").await.unwrap(), ProofOutcome::Proven);
}

#[tokio::test(start_paused = true)]
async fn a_report_is_kept_once_and_once_dismissed_not_made_again() {
    let (_lab, links) = links_in_lab();
    let report = |second, random| AbuseReport {
        id: AbuseReport::id_at(at(second), random),
        domain: String::new(),
        code: Code::parse("abc").unwrap(),
        reason: "spam".to_owned(),
        details: None,
        at: at(second),
    };
    let (old, new) = (report(100, 1), report(200, 2));
    for made in [&old, &new, &old] {
        links.report(made).await.unwrap();
    }
    let page = links.reports(1, None).await.unwrap();
    assert_eq!(page.items, std::slice::from_ref(&new));
    let rest = links.reports(10, page.next.as_deref()).await.unwrap();
    assert_eq!((rest.items, rest.next), (vec![old.clone()], None));
    assert!(links.dismiss_report(&old.id).await.unwrap());
    assert!(!links.dismiss_report(&old.id).await.unwrap());
    assert!(!links.dismiss_report("nothing").await.unwrap());
    links.report(&old).await.unwrap();
    assert_eq!(links.reports(10, None).await.unwrap().items, [new]);
}

#[tokio::test(start_paused = true)]
async fn the_first_word_about_a_blocked_destination_stays() {
    let (_lab, links) = links_in_lab();
    let entry = |key: &str, reason: &str| BlocklistEntry {
        key: key.to_owned(),
        reason: reason.to_owned(),
        by: "root".to_owned(),
        at: at(100),
    };
    for entry in
        [entry("host:b.example", "1"), entry("host:a.example", "2"), entry("host:b.example", "3")]
    {
        links.block_destination(&entry).await.unwrap();
    }
    let all = [entry("host:a.example", "2"), entry("host:b.example", "1")];
    assert_eq!(links.blocklist().await.unwrap(), all);
    for key in ["host:a.example", "host:a.example", "host:c.example"] {
        links.unblock_destination(key).await.unwrap();
    }
    assert_eq!(links.blocklist().await.unwrap(), all[1..]);
}
