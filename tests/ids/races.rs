//! Many callers, one winner.

use std::collections::BTreeSet;

use futures::future::join_all;
use http::Method;
use tests::{Lab, root_key};

#[tokio::test(start_paused = true)]
async fn a_hundred_cold_nodes_never_share_an_id() {
    let lab = Lab::new();
    let answers = join_all(
        (0..100).map(|_| lab.call(Method::POST, "/api/v1/ids?count=50").by(&root_key()).send()),
    )
    .await;
    let mut seen = BTreeSet::new();
    for answer in answers {
        assert_eq!(answer.status, 200, "{}", answer.body);
        for id in answer.body["ids"].as_array().unwrap() {
            assert!(seen.insert(id.as_str().unwrap().to_owned()));
        }
    }
    assert_eq!(seen.len(), 5_000);
}
