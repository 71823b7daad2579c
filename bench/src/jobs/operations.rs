//! What each operation on jobs asks of the store, read from the functions' own log.

use std::time::Duration;

use serde_json::json;

use crate::links::Cost;
use crate::links::dollars::{API_REQUESTS, INVOCATIONS, MESSAGES, READ_UNITS, WRITE_UNITS, billed};
use crate::operation_meter::OperationMeter;
use crate::table::{Table, Verdict};
use crate::{Result, block_on};

/// Jobs in a row of the table.
const JOBS: usize = 20;

/// What a call is billed for, assumed.
const CALL_MS: f64 = 5.0;

pub(crate) fn measure() -> Result<Vec<Table>> {
    block_on(async {
        let mut run = Run(OperationMeter::start().await?);
        let bill = run.lives().await?;
        Ok(vec![run.0.table, bill.table()])
    })
}

struct Run(OperationMeter);

/// What one job costs at the store, from its submission to its end.
#[derive(Default)]
struct Bill {
    submit: Cost,
    read: Cost,
    claim: Cost,
    start: Cost,
    heartbeat: Cost,
    complete: Cost,
    announce: Cost,
}

impl Run {
    async fn lives(&mut self) -> Result<Bill> {
        let job_type = json!({ "delivery": "poll", "maxConcurrent": 100 });
        self.0.client.call(("PUT", "/api/v1/job-types/bench"), &[], Some(&job_type), true).await?;
        // The first one reads the type and counts its queue, for five seconds.
        self.submit().await?;
        let mut jobs = Vec::new();
        for _ in 0..JOBS {
            jobs.push(self.submit().await?);
        }
        let submit = self
            .0
            .row("submitJob", JOBS + 1, "submit", "1 transaction", |c| c.calls <= 1.0)
            .await?;
        for job in &jobs {
            self.0.client.call(("GET", &format!("/api/v1/jobs/{job}")), &[], None, true).await?;
        }
        let read = self.0.row("readJob", JOBS, "status", "1 read", |c| c.calls <= 1.0).await?;
        for _ in 0..JOBS {
            let body = json!({ "workerId": "bench", "max": 1 });
            self.0.post("/api/v1/job-types/bench/claim", &body).await?;
        }
        let claim = self.0.row("claimJobs", JOBS, "claim one", "", |_| true).await?;
        let (start, heartbeat, complete) = (
            // The response to a start has the payload.
            self.report(&jobs, "start", "startJob", "2 reads + 1 transaction", 3.0).await?,
            self.report(&jobs, "heartbeat", "beatJob", "1 write", 1.0).await?,
            self.report(&jobs, "complete", "completeJob", "1 read + 1 transaction", 2.0).await?,
        );
        tokio::time::sleep(Duration::from_secs(1)).await;
        let announce =
            self.0.row("dispatchJobs", 0, "announce an end (mean)", "", |_| true).await?;
        Ok(Bill { submit, read, claim, start, heartbeat, complete, announce })
    }

    async fn submit(&mut self) -> Result<String> {
        let body = json!({ "jobType": "bench", "payload": { "n": 1 } });
        let made = self.0.post("/api/v1/jobs", &body).await?;
        Ok(made["jobId"].as_str().ok_or("no id")?.to_owned())
    }

    async fn report(
        &mut self,
        jobs: &[String],
        verb: &str,
        operation: &str,
        bar: &str,
        max: f64,
    ) -> Result<Cost> {
        // The oldest is the warm-up's: every claim takes the first of the queue.
        let mut accepted = 0;
        for job in jobs {
            let body = json!({ "workerId": "bench", "attempt": 1 });
            let path = format!("/api/v1/jobs/{job}/{verb}");
            if self.0.post(&path, &body).await.is_ok() {
                accepted += 1;
            }
        }
        if accepted + 1 < jobs.len() {
            return Err(format!("{verb}: only {accepted} of {} were taken", jobs.len()).into());
        }
        self.0.row(operation, jobs.len(), verb, bar, |cost| cost.calls <= max).await
    }
}

impl Bill {
    fn table(&self) -> Table {
        let mut table =
            Table::new("Dollars per million jobs", "HTTP API + Lambda + SQS + DynamoDB");
        let calls = [self.submit, self.claim, self.start, self.complete, self.announce];
        let store: f64 = calls.iter().map(|cost| cost.units * WRITE_UNITS).sum();
        let http = 4.0;
        let (api, compute) = (http * API_REQUESTS, (http + 1.0) * (INVOCATIONS + billed(CALL_MS)));
        let queue = 2.0 * MESSAGES;
        let parts = format!("{api:.2} + {compute:.2} + {queue:.2} + {store:.2}");
        let all = api + compute + queue + store;
        table.row(
            "submit, claim, start, complete, announce",
            format!("{all:.2}"),
            &parts,
            Verdict::Note,
        );
        let heartbeat =
            API_REQUESTS + INVOCATIONS + billed(CALL_MS) + self.heartbeat.units * WRITE_UNITS;
        table.row("a million heartbeats", format!("{heartbeat:.2}"), "", Verdict::Note);
        let read = API_REQUESTS + INVOCATIONS + billed(CALL_MS) + self.read.units * READ_UNITS;
        table.row("a million reads of a job", format!("{read:.2}"), "", Verdict::Note);
        table
    }
}
