//! Submitting and reading with ten thousand jobs running and a hundred thousand stored; and how many jobs
//! a second run from submission to end.
//!
//! The stored ones are copies of one real job's rows under other ids: only their number matters.

use std::error::Error;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::bullmq;
use crate::links::{Client, LocalCloud};
use crate::operation_meter::show;
use crate::table::{Table, Verdict, grouped};
use crate::{Result, block_on};

const RUNNING: usize = 10_000;
const STORED: usize = 100_000;
const SUBMITS: usize = 2_000;
const READS: usize = 5_000;
const ECHO_JOBS: u32 = 1_000;
const CONNECTIONS: usize = 4;
const PATIENCE: Duration = Duration::from_mins(3);

pub(crate) fn measure() -> Result<Vec<Table>> {
    let server = LocalCloud::start(None, None)?;
    let mut table = Table::new("Through the local HTTP API, everything on two cores", "bar");
    block_on(async {
        let mut client = Client::connect(&server.api).await?;
        let mut aws = Client::connect(&server.aws).await?;
        fill(&mut client, &mut aws).await?;
        let what =
            format!("{} running, {} stored", grouped(RUNNING as u64), grouped(STORED as u64));
        table.row("jobs there", what, "", Verdict::Note);
        let submits = submit_many(&server.api).await?;
        show(&mut table, "submit", &submits, Duration::from_millis(100));
        let reads = read_many(&server.api, &mut client).await?;
        show(&mut table, "status", &reads, Duration::from_millis(50));
        let seconds = run_to_end(&mut client).await?;
        let rate = format!("{:.0} a second", f64::from(ECHO_JOBS) / seconds);
        table.row("echo jobs from submission to their end", rate, "", Verdict::Note);
        bullmq::rows(&mut table);
        Ok(vec![table])
    })
}

/// Makes one job of each kind and copies its rows.
async fn fill(client: &mut Client, aws: &mut Client) -> Result {
    let job_type = json!({ "delivery": "poll", "maxConcurrent": 100_000 });
    client.call(("PUT", "/api/v1/job-types/bench"), &[], Some(&job_type), true).await?;
    let running = submit(client, "bench").await?;
    let body = json!({ "workerId": "bench", "max": 1 });
    client.call(("POST", "/api/v1/job-types/bench/claim"), &[], Some(&body), true).await?;
    let body = json!({ "workerId": "bench", "attempt": 1 });
    let path = format!("/api/v1/jobs/{running}/start");
    client.call(("POST", &path), &[], Some(&body), true).await?;
    copy(aws, &running, RUNNING, 'a').await?;
    let path = format!("/api/v1/jobs/{running}/complete");
    client.call(("POST", &path), &[], Some(&body), true).await?;
    copy(aws, &running, STORED - RUNNING, 'b').await
}

async fn copy(aws: &mut Client, id: &str, count: usize, mark: char) -> Result {
    let name = table_name(aws).await?;
    let key = json!({ "pk": { "S": format!("job#{id}") }, "sk": { "S": "job" } });
    let found =
        aws.aws("DynamoDB_20120810.GetItem", &json!({ "TableName": name, "Key": key })).await?;
    let row = found["Item"].to_string();
    for first in (0..count).step_by(25) {
        let puts: Vec<Value> = (first..count.min(first + 25))
            .map(|number| {
                let other = format!("{}{mark}{number:015x}", &id[..12]);
                let item: Value =
                    serde_json::from_str(&row.replace(id, &other)).unwrap_or_default();
                json!({ "PutRequest": { "Item": item } })
            })
            .collect();
        let mut tables = serde_json::Map::new();
        tables.insert(name.clone(), Value::Array(puts));
        aws.aws("DynamoDB_20120810.BatchWriteItem", &json!({ "RequestItems": tables })).await?;
    }
    Ok(())
}

async fn table_name(aws: &mut Client) -> Result<String> {
    let tables = aws.aws("DynamoDB_20120810.ListTables", &json!({})).await?;
    let names = tables["TableNames"].as_array().ok_or("no tables")?;
    let name = names.iter().filter_map(Value::as_str).find(|name| name.ends_with("JobsTable"));
    Ok(name.ok_or("no JobsTable")?.to_owned())
}

async fn submit(client: &mut Client, job_type: &str) -> Result<String> {
    let body = json!({ "jobType": job_type, "payload": { "n": 1 } });
    let made = client.call(("POST", "/api/v1/jobs"), &[], Some(&body), true).await?;
    let made: Value = serde_json::from_slice(made.body())?;
    Ok(made["jobId"].as_str().ok_or("no id")?.to_owned())
}

/// Each connection sends its next request when the last is answered.
async fn submit_many(host: &str) -> Result<Vec<Duration>> {
    let connection = async || {
        let mut client = Client::connect(host).await?;
        let mut took = Vec::new();
        for _ in 0..SUBMITS / CONNECTIONS {
            let started = Instant::now();
            submit(&mut client, "bench").await?;
            took.push(started.elapsed());
        }
        Ok::<_, Box<dyn Error>>(took)
    };
    let all = futures::future::try_join_all((0..CONNECTIONS).map(|_| connection())).await?;
    Ok(all.concat())
}

async fn read_many(host: &str, client: &mut Client) -> Result<Vec<Duration>> {
    let id = submit(client, "bench").await?;
    let path = format!("/api/v1/jobs/{id}");
    let connection = async || {
        let mut client = Client::connect(host).await?;
        let mut took = Vec::new();
        for _ in 0..READS / CONNECTIONS {
            let started = Instant::now();
            client.call(("GET", &path), &[], None, true).await?;
            took.push(started.elapsed());
        }
        Ok::<_, Box<dyn Error>>(took)
    };
    let all = futures::future::try_join_all((0..CONNECTIONS).map(|_| connection())).await?;
    Ok(all.concat())
}

/// Seconds from the first submission to the last end.
async fn run_to_end(client: &mut Client) -> Result<f64> {
    let job_type = json!({ "maxConcurrent": 50 });
    client.call(("PUT", "/api/v1/job-types/echo"), &[], Some(&job_type), true).await?;
    let started = Instant::now();
    let jobs: Vec<Value> = (0..100).map(|n| json!({ "jobType": "echo", "payload": n })).collect();
    for _ in 0..ECHO_JOBS / 100 {
        let body = json!({ "jobs": jobs });
        client.call(("POST", "/api/v1/jobs/bulk"), &[], Some(&body), true).await?;
    }
    while started.elapsed() < PATIENCE {
        let path = "/api/v1/job-types/echo";
        let seen = client.call(("GET", path), &[], None, true).await?;
        let seen: Value = serde_json::from_slice(seen.body())?;
        if seen["inUse"] == 0 && seen["queued"]["P2"] == 0 {
            return Ok(started.elapsed().as_secs_f64());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err("the jobs did not end in time".into())
}
