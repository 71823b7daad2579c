//! Lists: newest first, filtered, page by page.

use serde_json::{Value, json};
use tests::Lab;

use crate::jobs::{JOBS, assert_names, cancel, polled_lab, submit_as};

fn ids(page: &Value) -> Vec<String> {
    let items = page["items"].as_array().unwrap().iter();
    items.map(|item| item["jobId"].as_str().unwrap().to_owned()).collect()
}

/// Every page of a list, and how many there were.
async fn pages(lab: &Lab, query: &str) -> (Vec<String>, usize) {
    let (mut all, mut cursor, mut count) = (Vec::new(), String::new(), 0);
    loop {
        let page = lab.get(&format!("{JOBS}?{query}{cursor}")).await.assert_status(200);
        all.extend(ids(&page.body));
        count += 1;
        match page.body["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return (all, count),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn pages_have_no_gaps_and_no_doubles_and_come_newest_first() {
    let lab = Lab::new();
    let mut made = Vec::new();
    for _ in 0..23 {
        made.push(submit_as(&lab, "echo", json!({})).await);
        lab.clock.advance_ms(1);
    }
    made.reverse();
    for limit in [1, 4, 23, 100] {
        let (all, count) = pages(&lab, &format!("limit={limit}")).await;
        assert_eq!(all, made, "{limit}");
        assert!(count <= 23 / limit + 2, "{limit}: {count} pages");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_new_does_not_disturb_the_pages() {
    let lab = Lab::new();
    let mut made = Vec::new();
    for _ in 0..6 {
        made.push(submit_as(&lab, "echo", json!({})).await);
        lab.clock.advance_ms(1);
    }
    made.reverse();
    let first = lab.get(&format!("{JOBS}?limit=3")).await;
    submit_as(&lab, "echo", json!({})).await;
    let next = first.text("nextCursor");
    let second = lab.get(&format!("{JOBS}?limit=3&cursor={next}")).await;
    assert_eq!([ids(&first.body), ids(&second.body)].concat(), made);
}

#[tokio::test(start_paused = true)]
async fn filters_leave_out_the_rest() {
    let lab = polled_lab(5).await;
    let (mut echoes, mut gone) = (Vec::new(), Vec::new());
    for n in 0..12 {
        let job_type = if n % 2 == 0 { "echo" } else { "outside" };
        let id = submit_as(&lab, job_type, json!({})).await;
        if n % 3 == 0 {
            cancel(&lab, &id).await;
            gone.push((job_type, id.clone()));
        }
        if job_type == "echo" {
            echoes.push(id);
        }
        lab.clock.advance_ms(1);
    }
    echoes.reverse();
    gone.reverse();
    assert_eq!(pages(&lab, "limit=2&jobType=echo").await.0, echoes);
    let all_gone: Vec<String> = gone.iter().map(|(_, id)| id.clone()).collect();
    assert_eq!(pages(&lab, "limit=2&status=CANCELLED").await.0, all_gone);
    let both = gone.iter().filter(|(job_type, _)| *job_type == "echo").map(|(_, id)| id.clone());
    let both: Vec<String> = both.collect();
    assert_eq!(pages(&lab, "limit=1&status=CANCELLED&jobType=echo").await.0, both);
    assert!(pages(&lab, "status=RUNNING").await.0.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_question_that_makes_no_sense_is_refused() {
    let lab = Lab::new();
    for (query, field) in [
        ("status=DONE", "status"),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("jobType=A%20B", "jobType"),
        ("cursor=nonsense", "cursor"),
    ] {
        assert_names(&lab.get(&format!("{JOBS}?{query}")).await, field);
    }
}
