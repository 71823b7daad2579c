//! Templates that are published and activated at once.

use std::collections::BTreeSet;

use futures::future::join_all;
use futures::join;
use serde_json::{Value, json};

use super::{SEEDS, put, shuffled};

const ORDER: &str = "/api/v1/templates/order";

fn draft(text: &str) -> Value {
    json!({
        "defaultLocale": "en", "required": [],
        "texts": { "en": { "email": { "subject": "Hello", "text": text } } },
    })
}

#[tokio::test(start_paused = true)]
async fn templates_published_at_once_are_each_a_version_and_the_same_one_is_one() {
    for seed in 0..SEEDS {
        let (lab, _) = shuffled(seed);
        let drafts: Vec<Value> = (0..4).map(|n| draft(&format!("text {n}"))).collect();
        let answers = join_all(drafts.iter().map(|body| put(&lab, ORDER, body))).await;
        let mut versions = BTreeSet::new();
        for (answer, body) in answers.iter().zip(&drafts) {
            assert_eq!(answer.status, 201, "seed {seed}: {}", answer.body);
            let version = answer.body["version"].as_u64().unwrap();
            assert!(versions.insert(version), "seed {seed}");
            let shown = lab.get(&format!("{ORDER}?version={version}")).await;
            assert_eq!(shown.body["draft"]["texts"], body["texts"], "seed {seed}");
        }
        assert_eq!(versions, (1..=4).collect(), "seed {seed}");
        let last = draft("the last");
        let same = join_all((0..3).map(|_| put(&lab, ORDER, &last))).await;
        assert!(same.iter().all(|answer| answer.body["version"] == 5), "seed {seed}");
        assert_eq!(same.iter().filter(|answer| answer.status == 201).count(), 1, "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn versions_activated_at_once_leave_one_active_and_lose_none() {
    for seed in 0..SEEDS {
        let (lab, _) = shuffled(seed);
        for n in 1..=3 {
            put(&lab, ORDER, &draft(&format!("text {n}"))).await;
        }
        let paths = [2, 3].map(|n| format!("{ORDER}/versions/{n}/activate"));
        let last = draft("text 4");
        let (one, other, published) = join!(
            lab.post(&paths[0], &Value::Null),
            lab.post(&paths[1], &Value::Null),
            put(&lab, ORDER, &last),
        );
        assert_eq!((one.status.as_u16(), other.status.as_u16()), (200, 200), "seed {seed}");
        assert_eq!((published.status.as_u16(), &published.body["version"]), (201, &json!(4)));
        let shown = lab.get(ORDER).await;
        assert!([json!(2), json!(3)].contains(&shown.body["activeVersion"]), "seed {seed}");
        assert_eq!(shown.body["latestVersion"], 4, "seed {seed}");
        let active = shown.body["versions"].as_array().unwrap().iter();
        assert_eq!(active.filter(|it| it["active"] == true).count(), 1, "seed {seed}");
    }
}
