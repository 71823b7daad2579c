//! Roles: which callers may read and change which jobs.

use http::Method;
use serde_json::{Value, json};
use tests::Lab;

use crate::jobs::{JOBS, begin, polled, send, submit_as};

#[tokio::test(start_paused = true)]
async fn submitters_see_only_their_own_jobs() {
    let lab = Lab::new();
    let ada = lab.user("ada", &["job-submitter"]).await;
    let eve = lab.user("eve", &["job-submitter"]).await;
    polled(&lab, "outside", 1).await;
    let body = json!({ "jobType": "outside" });
    let made = send(&lab, Method::POST, JOBS, &ada, &body).await;
    let one = format!("{JOBS}/{}", made.text("jobId"));
    for (method, path) in [
        (Method::GET, one.clone()),
        (Method::GET, format!("{one}/explain")),
        (Method::GET, format!("{one}/events")),
        (Method::POST, format!("{one}/retry")),
        (Method::DELETE, one.clone()),
    ] {
        let others = send(&lab, method.clone(), &path, &eve, &Value::Null).await;
        assert_eq!(others.status, 404, "{method} {path}");
        let own = send(&lab, method.clone(), &path, &ada, &Value::Null).await;
        let expected = if path.ends_with("retry") { 409 } else { 200 };
        assert_eq!(own.status, expected, "{method} {path}: {}", own.body);
    }
    let depends = json!({ "jobType": "outside", "dependencies": [made.text("jobId")] });
    let refused = send(&lab, Method::POST, JOBS, &eve, &depends).await;
    assert_eq!(refused.status, 422, "what is not theirs is not there to depend on");
    let of_eve = send(&lab, Method::GET, JOBS, &eve, &Value::Null).await;
    let of_ada = send(&lab, Method::GET, JOBS, &ada, &Value::Null).await;
    let count = |list: &tests::Response| list.body["items"].as_array().unwrap().len();
    assert_eq!((count(&of_eve), count(&of_ada)), (0, 1));
    let words = send(&lab, Method::POST, &format!("{one}/start"), &ada, &json!({})).await;
    assert_eq!(words.status, 403, "workers have a role of their own");
}

#[tokio::test(start_paused = true)]
async fn viewers_read_all_jobs_and_change_none() {
    let lab = Lab::new();
    let vic = lab.user("vic", &["job-viewer"]).await;
    let id = submit_as(&lab, "echo", json!({})).await;
    let one = format!("{JOBS}/{id}");
    for path in [JOBS, &one, &format!("{one}/explain"), &format!("{one}/events")] {
        assert_eq!(send(&lab, Method::GET, path, &vic, &Value::Null).await.status, 200, "{path}");
    }
    let list = send(&lab, Method::GET, JOBS, &vic, &Value::Null).await;
    assert_eq!(list.body["items"][0]["jobId"], json!(id));
    for (method, path, body) in [
        (Method::POST, JOBS.to_owned(), json!({ "jobType": "echo" })),
        (Method::DELETE, one.clone(), Value::Null),
        (Method::POST, format!("{one}/retry"), Value::Null),
        (Method::POST, format!("{one}/start"), json!({})),
        (Method::PUT, "/api/v1/job-types/echo".to_owned(), json!({})),
    ] {
        let answer = send(&lab, method.clone(), &path, &vic, &body).await;
        assert_eq!(answer.status, 403, "{method} {path}");
    }
}

#[tokio::test(start_paused = true)]
async fn workers_claim_and_report_and_submit_nothing() {
    let lab = Lab::new();
    let wes = lab.user("wes", &["job-worker"]).await;
    polled(&lab, "outside", 2).await;
    submit_as(&lab, "outside", json!({})).await;
    let path = "/api/v1/job-types/outside/claim";
    let given = send(&lab, Method::POST, path, &wes, &json!({ "workerId": "w" })).await;
    let id = given.body["jobs"][0]["jobId"].as_str().unwrap().to_owned();
    let body = json!({ "workerId": "w", "attempt": 1 });
    for operation in ["start", "heartbeat", "complete"] {
        let path = format!("{JOBS}/{id}/{operation}");
        assert_eq!(send(&lab, Method::POST, &path, &wes, &body).await.status, 200, "{operation}");
    }
    let new = json!({ "jobType": "outside" });
    assert_eq!(send(&lab, Method::POST, JOBS, &wes, &new).await.status, 403);
    submit_as(&lab, "outside", json!({})).await;
    let running = begin(&lab, "outside", "w").await;
    let path = format!("{JOBS}/{running}");
    assert_eq!(send(&lab, Method::DELETE, &path, &wes, &Value::Null).await.status, 403);
}
