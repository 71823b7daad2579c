//! Jobs that depend on each other.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use tests::Lab;

use crate::jobs::{
    begin, cancel, claim, claimed, complete, event_names, job, polled_lab, report, retry, start,
    status, stored, submit_as, work,
};

async fn bulk(lab: &Lab, jobs: Value) -> Value {
    let answer = lab.post("/api/v1/jobs/bulk", &json!({ "jobs": jobs })).await.assert_status(200);
    answer.body
}

fn made(answer: &Value, index: usize) -> String {
    answer["results"][index]["job"]["jobId"].as_str().unwrap().to_owned()
}

/// A worker takes a job, which must be this one, and completes it.
async fn finish(lab: &Lab, id: &str) {
    assert_eq!(begin(lab, "outside", "w").await, id);
    complete(lab, id, "w", 1).await;
    lab.cloud.settle().await;
}

/// A worker gives a job up.
async fn give_up(lab: &Lab, id: &str, attempt: u64) {
    assert_eq!(claim(lab, "outside", "w", 1).await, [(id.to_owned(), attempt)]);
    start(lab, id, "w", attempt).await;
    let failed = report(lab, id, "fail", "w", attempt, json!({ "retryable": false })).await;
    assert_eq!(failed.text("status"), "FAILED");
    lab.cloud.settle().await;
}

#[tokio::test(start_paused = true)]
async fn a_diamond_submitted_at_once_runs_in_order() {
    let lab = polled_lab(5).await;
    let answer = bulk(
        &lab,
        json!([
            { "name": "end", "jobType": "outside", "dependencies": ["@left", "@right"] },
            { "name": "left", "jobType": "outside", "dependencies": ["@top"] },
            { "name": "right", "jobType": "outside", "dependencies": ["@top"] },
            { "name": "top", "jobType": "outside" },
        ]),
    )
    .await;
    assert_eq!(answer["created"], 4, "{answer}");
    let [end, left, right, top] = [0, 1, 2, 3].map(|n| made(&answer, n));
    finish(&lab, &top).await;
    let mut sides = claimed(&lab, "outside", "w", 5).await;
    sides.sort();
    let mut expected = vec![left.clone(), right.clone()];
    expected.sort();
    assert_eq!(sides, expected);
    for id in [&left, &right] {
        assert_eq!(status(&lab, &end).await, "WAITING");
        work(&lab, id).await;
        lab.cloud.settle().await;
    }
    finish(&lab, &end).await;
    let trail = event_names(&lab, &end).await;
    assert_eq!(trail.iter().filter(|what| *what == "dependency-ended").count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_cycle_is_refused_by_name_and_the_rest_is_made() {
    let lab = Lab::new();
    let answer = bulk(
        &lab,
        json!([
            { "name": "a", "jobType": "echo", "dependencies": ["@b"] },
            { "name": "b", "jobType": "echo", "dependencies": ["@a"] },
            { "name": "c", "jobType": "echo" },
            { "name": "d", "jobType": "echo", "dependencies": ["@a"] },
            { "name": "e", "jobType": "echo", "dependencies": ["@c"] },
        ]),
    )
    .await;
    let counts = (answer["created"].as_u64().unwrap(), answer["failed"].as_u64().unwrap());
    assert_eq!(counts, (2, 3), "{answer}");
    for index in [0, 1] {
        let problem = answer["results"][index]["problem"].to_string();
        assert!(problem.contains("a → b → a"), "{problem}");
        assert!(problem.contains("dependencies"), "{problem}");
    }
    assert_eq!(answer["results"][3]["status"], 422, "it depends on what was refused");
}

#[tokio::test(start_paused = true)]
async fn a_failed_parent_fails_its_children_and_theirs_unless_they_run_all_the_same() {
    let lab = polled_lab(5).await;
    let parent = submit_as(&lab, "outside", json!({})).await;
    let child = submit_as(&lab, "outside", json!({ "dependencies": [parent] })).await;
    let grandchild = submit_as(&lab, "outside", json!({ "dependencies": [child] })).await;
    let more = json!({ "dependencies": [child], "onDependencyFailure": "run" });
    let hardy = submit_as(&lab, "outside", more).await;
    give_up(&lab, &parent, 1).await;
    for (id, cause) in [(&child, &parent), (&grandchild, &child)] {
        let found = job(&lab, id).await;
        assert_eq!(found.text("status"), "FAILED");
        assert_eq!(found.text("error"), format!("its dependency {cause} did not complete"));
        assert!(stored(&lab, id).await.end_announced);
    }
    assert_eq!(status(&lab, &hardy).await, "QUEUED");
    let queue = lab.queue("WorkDeadLetters");
    let dead_letters = lab.cloud.services.queues().depth(&queue).unwrap().visible;
    assert_eq!(dead_letters, 1, "only a job that ran leaves a dead letter");
}

#[tokio::test(start_paused = true)]
async fn a_job_cancelled_while_it_waited_goes_on_counting_and_may_be_retried() {
    let lab = polled_lab(5).await;
    let parent = submit_as(&lab, "outside", json!({})).await;
    let early = submit_as(&lab, "outside", json!({ "dependencies": [parent] })).await;
    let late = submit_as(&lab, "outside", json!({ "dependencies": [parent] })).await;
    for id in [&early, &late] {
        assert_eq!(cancel(&lab, id).await.text("status"), "CANCELLED");
    }
    lab.cloud.settle().await;
    assert_eq!(retry(&lab, &early).await.text("status"), "WAITING");
    finish(&lab, &parent).await;
    assert_eq!(status(&lab, &early).await, "QUEUED");
    assert_eq!(status(&lab, &late).await, "CANCELLED");
    assert_eq!(retry(&lab, &late).await.text("status"), "QUEUED", "nothing is open any more");
}

#[tokio::test(start_paused = true)]
async fn a_dependency_that_has_ended_is_not_waited_for() {
    let lab = polled_lab(5).await;
    let good = submit_as(&lab, "outside", json!({})).await;
    finish(&lab, &good).await;
    let bad = submit_as(&lab, "outside", json!({})).await;
    give_up(&lab, &bad, 1).await;
    let after_good = submit_as(&lab, "outside", json!({ "dependencies": [good, good] })).await;
    assert_eq!(status(&lab, &after_good).await, "QUEUED");
    let after_bad = submit_as(&lab, "outside", json!({ "dependencies": [bad] })).await;
    assert_eq!(status(&lab, &after_bad).await, "FAILED");
    let more = json!({ "dependencies": [bad, good], "onDependencyFailure": "run" });
    let hardy = submit_as(&lab, "outside", more).await;
    assert_eq!(status(&lab, &hardy).await, "QUEUED");
    lab.cloud.settle().await;
    assert!(stored(&lab, &after_bad).await.end_announced, "its end is announced like any other");
}

/// Layers of the large graph, of a hundred nodes each: ten thousand in all.
const LAYERS: usize = 100;

#[tokio::test(start_paused = true)]
async fn in_a_large_graph_no_job_runs_early_twice_or_never() {
    let lab = polled_lab(1_000).await;
    let mut parents: HashMap<String, Vec<String>> = HashMap::new();
    let mut above: Vec<String> = Vec::new();
    for layer in 0..LAYERS {
        let on = |n: usize| -> Vec<String> {
            let picks = [n, (n * 7 + layer) % 100, (n * 13 + 5) % 100];
            let picks: HashSet<usize> = picks.into_iter().collect();
            picks.into_iter().filter_map(|pick| above.get(pick).cloned()).collect()
        };
        let dependencies: Vec<Vec<String>> = (0..100).map(on).collect();
        let entry = |on: &Vec<String>| json!({ "jobType": "outside", "dependencies": on });
        let answer = bulk(&lab, dependencies.iter().map(entry).collect()).await;
        assert_eq!(answer["created"], 100, "{}", answer["results"][0]);
        above = (0..100).map(|n| made(&answer, n)).collect();
        parents.extend(above.iter().cloned().zip(dependencies));
    }
    let mut ended: HashSet<String> = HashSet::new();
    loop {
        let given = claimed(&lab, "outside", "w", 20).await;
        if given.is_empty() {
            break;
        }
        for id in given {
            assert!(parents[&id].iter().all(|parent| ended.contains(parent)), "{id} is early");
            work(&lab, &id).await;
            assert!(ended.insert(id), "twice");
        }
        lab.cloud.settle().await;
    }
    assert_eq!(ended.len(), parents.len());
    for (id, parents) in parents.iter().step_by(37) {
        let trail = event_names(&lab, id).await;
        assert_eq!(trail.len(), 4 + parents.len(), "each end was counted once");
    }
}
