//! Accepting and delivering at the same time, on the same machine.

use std::error::Error;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::links::{Client, LocalCloud};
use crate::operation_meter::show;
use crate::table::{Table, Verdict};
use crate::{Result, block_on};

const SENT: u16 = 2_000;
const PEOPLE: u16 = 400;
const CONNECTIONS: u16 = 4;
const PATIENCE: Duration = Duration::from_mins(3);

pub(crate) fn measure() -> Result<Vec<Table>> {
    let server = LocalCloud::start(None, None)?;
    let mut table = Table::new("Through the local HTTP API, everything on two cores", "bar");
    block_on(async {
        let mut client = Client::connect(&server.api).await?;
        prepare(&mut client).await?;
        let started = Instant::now();
        let took = send_many(&server.api).await?;
        let accepted = started.elapsed();
        show(&mut table, "accept while mails go out", &took, Duration::from_millis(100));
        wait_for_all(&mut client, started).await?;
        let arrived = started.elapsed();
        let rate = |time: Duration| format!("{:.0} a second", f64::from(SENT) / time.as_secs_f64());
        table.row("accepted by four callers", rate(accepted), "", Verdict::Note);
        table.row("from the call to the mailbox", rate(arrived), "", Verdict::Note);
        Ok(vec![table])
    })
}

/// People with a mailbox, and a sender who may send more than others.
async fn prepare(client: &mut Client) -> Result {
    for n in 0..PEOPLE {
        let contacts = json!({ "email": format!("p{n}@example.com") });
        client
            .call(("PUT", &format!("/api/v1/users/p{n}/contacts")), &[], Some(&contacts), true)
            .await?;
    }
    for (name, dimension) in [("notifications-minute", "apiKey"), ("user-minute", "user")] {
        let rule = json!({
            "resources": ["/api/v1/notifications"], "dimension": dimension, "limit": 1_000_000,
            "windowSeconds": 60,
        });
        client.call(("PUT", &format!("/admin/ratelimits/{name}")), &[], Some(&rule), true).await?;
    }
    // Nodes hear of it within five seconds.
    tokio::time::sleep(Duration::from_secs(6)).await;
    Ok(())
}

/// Each connection sends its next request when the last is answered.
async fn send_many(host: &str) -> Result<Vec<Duration>> {
    let connection = async |first: u16| {
        let mut client = Client::connect(host).await?;
        let mut took = Vec::new();
        for n in (first..SENT).step_by(CONNECTIONS.into()) {
            let body = json!({
                "userId": format!("p{}", n % PEOPLE), "category": "bench",
                "idempotencyKey": n.to_string(),
                "content": { "email": { "subject": "Hello", "text": "Hello there" } },
            });
            let started = Instant::now();
            client.call(("POST", "/api/v1/notifications"), &[], Some(&body), true).await?;
            took.push(started.elapsed());
        }
        Ok::<_, Box<dyn Error>>(took)
    };
    let all = futures::future::try_join_all((0..CONNECTIONS).map(connection)).await?;
    Ok(all.concat())
}

/// The sink numbers what it gets: the last one is there when all are.
async fn wait_for_all(client: &mut Client, since: Instant) -> Result {
    let last = format!("/_sink/{SENT}.json");
    while since.elapsed() < PATIENCE {
        if client.call(("GET", &last), &[], None, false).await.is_ok() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Err("the mails did not arrive in time".into())
}
