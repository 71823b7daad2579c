//! What each operation on the feed asks of the store, and what a million cost.

use domain::accounts::UserId;
use serde_json::{Value, json};

use super::load::{CELEBRITIES, FOLLOWS, follow_many, unlimit};
use super::seed::{Seeder, person};
use crate::links::Cost;
use crate::links::dollars::{API_REQUESTS, INVOCATIONS, MESSAGES, READ_UNITS, WRITE_UNITS, billed};
use crate::operation_meter::OperationMeter;
use crate::table::{Table, Verdict};
use crate::{Result, block_on};

/// Calls in a row of the table.
const TIMES: usize = 20;

/// What a call is billed for, assumed.
const READ_MS: f64 = 20.0;
const WRITE_MS: f64 = 10.0;

const PUBLISHED: f64 = 0.50;

pub(crate) fn measure() -> Result<Vec<Table>> {
    block_on(async {
        let mut counting = OperationMeter::start().await?;
        let bill = count(&mut counting).await?;
        Ok(vec![counting.table, bill.table()])
    })
}

struct Bill {
    write: Cost,
    fan_out: Cost,
    read: Cost,
    like: Cost,
}

async fn count(counting: &mut OperationMeter) -> Result<Bill> {
    unlimit(&mut counting.client).await?;
    let seed = Seeder::of(counting.server()).await?;
    let me = UserId::outside("root");
    seed.follow(&[person("fan", 0)], std::slice::from_ref(&me)).await?;
    let mut posts = Vec::new();
    for n in 0..=TIMES {
        posts.push(write(counting, n).await?);
    }
    let bar = "1 transaction";
    let write = counting.row("writePost", TIMES + 1, "write a post", bar, |c| c.calls <= 3.0);
    let write = write.await?;
    let fan_out =
        counting.row("fanOut", TIMES + 1, "fan it out to a follower", "", |_| true).await?;
    for post in &posts[..TIMES] {
        call(counting, "PUT", &format!("/api/v1/posts/{post}/like")).await?;
    }
    let like = counting.row("likePost", TIMES, "like a post", "", |_| true).await?;
    for post in &posts[..TIMES] {
        let body = json!({ "text": "well said" });
        counting.post(&format!("/api/v1/posts/{post}/comments"), &body).await?;
    }
    counting.row("commentOnPost", TIMES, "comment on a post", "", |_| true).await?;
    follow_many(&seed, &me, 100, 5).await?;
    let few = feed(counting, "read a page, following 100 with 5 celebrities").await?;
    follow_many(&seed, &me, FOLLOWS, CELEBRITIES).await?;
    let read = feed(counting, "read a page, following 2,000 with 50 celebrities").await?;
    let same = Verdict::Counted((few.calls - read.calls).abs() < 0.5);
    let said = format!("{} and {}", few.calls, read.calls);
    counting.table.row("calls by follows", said, "constant", same);
    for post in &posts[..TIMES] {
        call(counting, "GET", &format!("/api/v1/posts/{post}")).await?;
    }
    counting.row("readPost", TIMES, "read a post", "", |_| true).await?;
    for n in 0..TIMES {
        call(counting, "DELETE", &format!("/api/v1/users/friend{n}/follow")).await?;
        call(counting, "PUT", &format!("/api/v1/users/friend{n}/follow")).await?;
    }
    counting.row("followUser", TIMES, "follow a user", "1 transaction", |c| c.calls <= 6.0).await?;
    for post in &posts[..TIMES] {
        call(counting, "DELETE", &format!("/api/v1/posts/{post}")).await?;
    }
    counting.row("deletePost", TIMES, "delete a post", "", |_| true).await?;
    Ok(Bill { write, fan_out, read, like })
}

async fn feed(counting: &mut OperationMeter, what: &str) -> Result<Cost> {
    for _ in 0..TIMES {
        call(counting, "GET", "/api/v1/feed").await?;
    }
    counting.row("readFeed", TIMES, what, "6 reads, 1 write", |c| c.calls <= 7.0).await
}

async fn write(counting: &mut OperationMeter, n: usize) -> Result<String> {
    let made = counting.post("/api/v1/posts", &json!({ "text": format!("post {n}") })).await?;
    Ok(made["postId"].as_str().ok_or("no post")?.to_owned())
}

async fn call(counting: &mut OperationMeter, method: &str, path: &str) -> Result {
    let body: Option<&Value> = None;
    counting.client.call((method, path), &[], body, true).await.map(|_| ())
}

impl Bill {
    fn table(&self) -> Table {
        let parts = "HTTP API + Lambda + SNS and SQS + DynamoDB";
        let mut table = Table::new("Dollars per million", parts);
        let read_store = self.read.units * READ_UNITS;
        let compute = INVOCATIONS + billed(READ_MS);
        let said = format!("{API_REQUESTS:.2} + {compute:.2} + 0.00 + {read_store:.2}");
        let all = API_REQUESTS + compute + read_store;
        table.row("pages read", format!("{all:.2}"), &said, Verdict::Note);
        let store = (self.write.units + self.fan_out.units) * WRITE_UNITS;
        let compute = 2.0 * (INVOCATIONS + billed(WRITE_MS));
        let queue = PUBLISHED + MESSAGES;
        let said = format!("{API_REQUESTS:.2} + {compute:.2} + {queue:.2} + {store:.2}");
        let all = API_REQUESTS + compute + queue + store;
        table.row("posts with one follower", format!("{all:.2}"), &said, Verdict::Note);
        let each = WRITE_UNITS + READ_UNITS;
        table.row(
            "  each further follower",
            format!("{each:.2}"),
            "1 write + 1 read",
            Verdict::Note,
        );
        let store = self.like.units * WRITE_UNITS;
        let compute = INVOCATIONS + billed(WRITE_MS);
        let said = format!("{API_REQUESTS:.2} + {compute:.2} + 0.00 + {store:.2}");
        let all = API_REQUESTS + compute + store;
        table.row("likes, without their folds", format!("{all:.2}"), &said, Verdict::Note);
        table
    }
}
