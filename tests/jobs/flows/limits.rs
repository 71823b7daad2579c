//! Licences: never more holders than there may be, and rows that were tampered with.

use http::Method;
use serde_json::{Value, json};
use tests::{Lab, root_key};

use crate::jobs::{
    claim, claimed, in_use, jobs, leave_holder, pass_time, polled_lab, save, send,
    set_licence_count, status, submit_as, work,
};

/// Submits that many jobs of a type.
async fn submit_many(lab: &Lab, job_type: &str, count: usize) {
    let mut left = count;
    while left > 0 {
        let some = left.min(100);
        let body = json!({ "jobs": vec![json!({ "jobType": job_type }); some] });
        let answer = lab.post("/api/v1/jobs/bulk", &body).await;
        assert_eq!(answer.body["created"], some, "{}", answer.body);
        left -= some;
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_lowered_under_load_admits_nothing_until_use_is_below_it() {
    for shards in [1, 4] {
        let lab = Lab::new();
        let body = json!({ "delivery": "poll", "maxConcurrent": 100, "licenceShards": shards });
        save(&lab, "outside", &body).await;
        submit_many(&lab, "outside", 120).await;
        let mut held = Vec::new();
        for _ in 0..6 {
            held.extend(claimed(&lab, "outside", "w", 20).await);
        }
        assert_eq!((held.len(), in_use(&lab, "outside").await), (100, 100), "{shards}");
        let lowered = save(&lab, "outside", &json!({ "maxConcurrent": 10 })).await;
        assert_eq!(
            (&lowered.body["inUse"], &lowered.body["maxConcurrent"]),
            (&json!(100), &json!(10))
        );
        for left in (10..100).rev() {
            assert!(claim(&lab, "outside", "v", 20).await.is_empty(), "{shards}: {left}");
            let id = held.pop().unwrap();
            work(&lab, &id).await;
        }
        assert!(claim(&lab, "outside", "v", 20).await.is_empty(), "{shards}: at the limit");
        for _ in 0..3 {
            let id = held.pop().unwrap();
            work(&lab, &id).await;
        }
        assert_eq!(claim(&lab, "outside", "v", 20).await.len(), 3, "{shards}");
        assert_eq!(in_use(&lab, "outside").await, 10);
    }
}

#[tokio::test(start_paused = true)]
async fn licences_that_are_spread_are_all_used() {
    let lab = Lab::new();
    let body = json!({ "delivery": "poll", "maxConcurrent": 10, "licenceShards": 4 });
    save(&lab, "outside", &body).await;
    submit_many(&lab, "outside", 30).await;
    let mut held = claimed(&lab, "outside", "w", 20).await;
    assert_eq!(held.len(), 10);
    for _ in 0..20 {
        let id = held.remove(0);
        work(&lab, &id).await;
        held.extend(claimed(&lab, "outside", "w", 20).await);
        assert_eq!((held.len(), in_use(&lab, "outside").await), (10, 10));
    }
    save(&lab, "outside", &json!({ "licenceShards": 1 })).await;
    assert_eq!(in_use(&lab, "outside").await, 10, "holders of rows that are given up count on");
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_nothing_pauses_a_type_and_a_raised_one_lets_it_go_on() {
    let lab = Lab::new();
    save(&lab, "echo", &json!({ "maxConcurrent": 0 })).await;
    let id = submit_as(&lab, "echo", json!({})).await;
    lab.cloud.settle().await;
    lab.sweep().await;
    lab.cloud.settle().await;
    assert_eq!(status(&lab, &id).await, "QUEUED");
    save(&lab, "echo", &json!({ "maxConcurrent": 1 })).await;
    lab.cloud.settle().await;
    assert_eq!(status(&lab, &id).await, "COMPLETED");
}

#[tokio::test(start_paused = true)]
async fn a_type_at_its_limit_keeps_no_other_type_waiting() {
    let lab = Lab::new();
    save(&lab, "sleep", &json!({ "maxConcurrent": 0 })).await;
    for _ in 0..25 {
        submit_as(&lab, "sleep", json!({ "priority": "P0", "payload": { "seconds": 1 } })).await;
    }
    let id = submit_as(&lab, "echo", json!({ "priority": "P3" })).await;
    lab.cloud.settle().await;
    assert_eq!(status(&lab, &id).await, "COMPLETED");
    let job_types = lab.get("/api/v1/job-types").await;
    let mut job_types = job_types.body["items"].as_array().unwrap().iter();
    let sleep = job_types.find(|job_type| job_type["jobType"] == "sleep").unwrap();
    assert_eq!(sleep["queued"]["P0"], 25);
}

#[tokio::test(start_paused = true)]
async fn one_licence_is_handed_from_job_to_job() {
    let lab = Lab::new();
    save(&lab, "echo", &json!({ "maxConcurrent": 1 })).await;
    submit_many(&lab, "echo", 30).await;
    lab.cloud.settle().await;
    let done = lab.get("/api/v1/jobs?status=COMPLETED&limit=100").await;
    assert_eq!(done.body["items"].as_array().unwrap().len(), 30);
}

#[tokio::test(start_paused = true)]
async fn a_type_is_changed_with_the_version_that_was_read() {
    let lab = Lab::new();
    let put = |version: &'static str| {
        let call = lab.call(Method::PUT, "/api/v1/job-types/echo").by(&root_key());
        call.header("if-match", version).json(&json!({ "maxConcurrent": 5 })).send()
    };
    let first = put("\"0\"").await;
    assert_eq!((first.status.as_u16(), first.header("etag")), (201, "\"1\""), "{}", first.body);
    assert_eq!(put("\"0\"").await.status, 412);
    assert_eq!(put("\"1\"").await.status, 200);
    let read = lab.get("/api/v1/job-types/echo").await;
    assert_eq!((read.header("etag"), &read.body["maxConcurrent"]), ("\"2\"", &json!(5)));
    let path = "/api/v1/job-types/nothing";
    assert_eq!(send(&lab, Method::GET, path, &root_key(), &Value::Null).await.status, 404);
}

/// What was reported as drift so far.
fn drift(lab: &Lab) -> f64 {
    let lines = lab.lines();
    let values = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    // Said for all types together and for each; the larger of what one line says.
    values.filter_map(|line| line["license_drift"].as_f64()).fold(0.0, f64::max)
}

#[tokio::test(start_paused = true)]
async fn a_count_that_was_tampered_with_is_right_after_a_sweep() {
    let lab = polled_lab(3).await;
    submit_many(&lab, "outside", 5).await;
    claim(&lab, "outside", "w", 1).await;
    lab.sweep().await;
    assert!(drift(&lab) == 0.0, "nothing to report");
    for wrong in [3, 0] {
        set_licence_count(&lab, wrong).await;
        assert_eq!(in_use(&lab, "outside").await, wrong);
        lab.sweep().await;
        assert_eq!(in_use(&lab, "outside").await, 1);
    }
    assert!(drift(&lab) > 0.0);
    assert_eq!(claim(&lab, "outside", "v", 20).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_licence_left_behind_is_taken_back_by_a_sweep() {
    let lab = polled_lab(1).await;
    let id = submit_as(&lab, "outside", json!({})).await;
    claim(&lab, "outside", "w", 1).await;
    work(&lab, &id).await;
    lab.cloud.settle().await;
    submit_as(&lab, "outside", json!({})).await;
    for counted in [false, true] {
        leave_holder(&lab, &id).await;
        if counted {
            set_licence_count(&lab, 1).await;
        }
        let mut clock = 0;
        pass_time(&lab, &mut clock, 90).await;
        assert_eq!(in_use(&lab, "outside").await, 0, "{counted}");
        let name = domain::jobs::JobTypeName::parse("outside").unwrap();
        assert!(jobs(&lab).holders(&name, 0, 10).await.unwrap().is_empty());
    }
    assert!(drift(&lab) >= 1.0);
    assert_eq!(claim(&lab, "outside", "v", 1).await.len(), 1);
}
