//! What each operation on notifications asks of the store, and what a million cost.

use serde_json::{Value, json};

use crate::links::Cost;
use crate::links::dollars::{API_REQUESTS, INVOCATIONS, MESSAGES, READ_UNITS, WRITE_UNITS, billed};
use crate::operation_meter::OperationMeter;
use crate::table::{Table, Verdict};
use crate::{Result, block_on};

/// Notifications in a row of the table: as many mails as one person gets in a day.
const SENT: usize = 20;

/// What a call is billed for, assumed; a provider is waited for.
const CALL_MS: f64 = 5.0;
const PROVIDER_MS: f64 = 100.0;

/// Dollars for a million published messages; each goes to one queue, which is free.
const PUBLISHED: f64 = 0.50;

pub(crate) fn measure() -> Result<Vec<Table>> {
    block_on(async {
        let mut counting = OperationMeter::start().await?;
        let bill = count(&mut counting).await?;
        Ok(vec![counting.table, bill.table()])
    })
}

/// What one notification costs at the store.
struct Bill {
    accept: Cost,
    deliver: Cost,
    look: Cost,
}

async fn count(counting: &mut OperationMeter) -> Result<Bill> {
    let contacts = json!({ "email": "ada@example.com" });
    put(counting, "/api/v1/users/ada/contacts", &contacts).await?;
    let template = json!({
        "defaultLocale": "en", "required": ["name"],
        "texts": { "en": { "email": { "subject": "Hello", "text": "Hello {{ name }}" } } },
    });
    put(counting, "/api/v1/templates/bench", &template).await?;
    let words = json!({ "content": { "email": { "subject": "Hello", "text": "Hello Ada" } } });
    let filled = json!({ "template": { "id": "bench" }, "data": { "name": "Ada" } });

    // The first one of a node reads limits, its caller and breakers.
    send(counting, "warm", &words).await?;
    for n in 0..SENT / 2 {
        send(counting, &format!("words-{n}"), &words).await?;
    }
    let half = SENT / 2;
    let accept =
        counting.row("sendNotification", half + 1, "accept", "1 read + 1 transaction", |c| {
            c.calls <= 2.0
        });
    let accept = accept.await?;
    let deliver =
        counting.row("deliver", half + 1, "deliver a mail, one in a batch", "", |_| true).await?;
    for n in 0..half - 1 {
        send(counting, &format!("filled-{n}"), &filled).await?;
    }
    let bar = "1 read + 1 transaction";
    counting
        .row("sendNotification", half - 1, "accept, by a template", bar, |c| c.calls <= 2.0)
        .await?;
    counting.row("deliver", half - 1, "deliver a mail by a template", "", |_| true).await?;
    // Each was looked at until it had arrived.
    let look = counting.row("readNotification", 0, "look", "1 query", |c| c.calls <= 1.0).await?;
    for _ in 0..half {
        let path = "/api/v1/users/ada/notifications?limit=20";
        counting.client.call(("GET", path), &[], None, true).await?;
    }
    counting.row("listNotifications", half, "log of 20", "", |_| true).await?;
    for on in [true, false].repeat(half / 2) {
        put(counting, "/api/v1/users/ada/preferences", &json!({ "channels": { "sms": on } }))
            .await?;
    }
    counting.row("savePreferences", half, "save preferences, nothing waits", "", |_| true).await?;
    Ok(Bill { accept, deliver, look })
}

async fn put(counting: &mut OperationMeter, path: &str, body: &Value) -> Result {
    counting.client.call(("PUT", path), &[], Some(body), true).await.map(|_| ())
}

async fn send(counting: &mut OperationMeter, key: &str, words: &Value) -> Result {
    let mut body = json!({ "userId": "ada", "category": "bench", "idempotencyKey": key });
    for (name, value) in words.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    let sent = counting.post("/api/v1/notifications", &body).await?;
    let id = sent["notifications"][0]["notificationId"].as_str().ok_or("no id")?;
    // One in a batch: the next one is sent when this one has arrived.
    for _ in 0..200 {
        let path = format!("/api/v1/notifications/{id}");
        let seen = counting.client.call(("GET", &path), &[], None, true).await?;
        let seen: Value = serde_json::from_slice(seen.body())?;
        if seen["status"] == "delivered" {
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    Err("a mail was not delivered".into())
}

impl Bill {
    fn table(&self) -> Table {
        let parts = "HTTP API + Lambda + SNS and SQS + DynamoDB";
        let mut table = Table::new("Dollars per million mails, each alone in its batch", parts);
        let compute = 2.0 * INVOCATIONS + billed(CALL_MS) + billed(PROVIDER_MS);
        let store = (self.accept.units + self.deliver.units) * WRITE_UNITS;
        let queue = PUBLISHED + MESSAGES;
        let said = format!("{API_REQUESTS:.2} + {compute:.2} + {queue:.2} + {store:.2}");
        let all = API_REQUESTS + compute + queue + store;
        table.row("accept and deliver", format!("{all:.2}"), &said, Verdict::Note);
        let look = API_REQUESTS + INVOCATIONS + billed(CALL_MS) + self.look.units * READ_UNITS;
        table.row("a million looks", format!("{look:.2}"), "", Verdict::Note);
        table
    }
}
