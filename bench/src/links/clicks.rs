//! What counting a batch of clicks costs, by how many clicks it has and over how many links.
//!
//! Batches are put on the queue as a redirect would put them, and counted by the function itself.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use domain::Timestamp;
use domain::links::clicks::{Click, ClickBatch};
use serde_json::{Value, json};

use super::client::{AGENT, Client};
use super::log::{Cost, Log};
use crate::Result;

/// Visitors that a popular link has had today before its batch is counted.
pub(crate) const POPULAR: usize = 5_000;

/// The most that one batch holds.
const FULL: usize = 100;

/// How a batch is made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchShape {
    pub(crate) clicks: usize,
    pub(crate) links: usize,
    /// Whether the link has had thousands of visitors today.
    pub(crate) popular: bool,
}

impl fmt::Display for BatchShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { clicks, links, .. } = self;
        let popular = if self.popular { ", 5,000 visitors before" } else { "" };
        write!(f, "count {clicks} clicks on {links} links{popular}")
    }
}

const BATCHES: [BatchShape; 6] = [
    BatchShape { clicks: 1, links: 1, popular: false },
    BatchShape { clicks: 10, links: 1, popular: false },
    BatchShape { clicks: 10, links: 10, popular: false },
    BatchShape { clicks: 50, links: 1, popular: false },
    BatchShape { clicks: 50, links: 10, popular: false },
    BatchShape { clicks: 50, links: 1, popular: true },
];

/// Counts each of [`BATCHES`]; `popular` is the code of the link that is popular.
pub(crate) async fn count(
    aws: &mut Client,
    log: &Log,
    popular: &str,
) -> Result<Vec<(BatchShape, Cost)>> {
    let queue = queue(aws).await?;
    let mut before = Vec::new();
    for number in 0..POPULAR / FULL {
        let codes = [popular.to_owned()];
        before.push(send(aws, &queue, &codes, FULL, 1_000 * (number + 1)).await?);
    }
    wait(log, &before).await?;
    let mut counted = Vec::new();
    for (number, batch) in BATCHES.into_iter().enumerate() {
        let codes: Vec<String> = if batch.popular {
            vec![popular.to_owned()]
        } else {
            (0..batch.links).map(|link| format!("b{number}link{link}")).collect()
        };
        let id = send(aws, &queue, &codes, batch.clicks, 1_000_000 * (number + 1)).await?;
        let lines = wait(log, &[id]).await?;
        let cost = |name: &str| lines.first().and_then(|line| line[name].as_f64());
        let (calls, units) = (cost("store_calls"), cost("store_units"));
        let cost = Cost {
            calls: calls.ok_or("no calls")?,
            units: units.ok_or("no units")?,
            messages: 0.0,
        };
        counted.push((batch, cost));
    }
    Ok(counted)
}

/// The lines about those messages.
async fn wait(log: &Log, ids: &[String]) -> Result<Vec<Value>> {
    let is_ours = |line: &Value| ids.iter().any(|id| line["message_id"] == id.as_str());
    log.next(ids.len(), is_ours).await
}

async fn queue(aws: &mut Client) -> Result<String> {
    let queues = aws.aws("AmazonSQS.ListQueues", &json!({})).await?;
    let urls = queues["QueueUrls"].as_array().cloned().unwrap_or_default();
    let is_clicks = |url: &&str| url.ends_with("ClicksQueue");
    let url = urls.iter().filter_map(Value::as_str).find(is_clicks);
    url.map(str::to_owned).ok_or_else(|| format!("no queue of clicks in {urls:?}").into())
}

/// Sends a batch of clicks, each by a visitor of its own, and says the message's id.
async fn send(
    aws: &mut Client,
    queue: &str,
    codes: &[String],
    clicks: usize,
    first_visitor: usize,
) -> Result<String> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let at = Timestamp::from_second(i64::try_from(seconds)?)?;
    let clicks = codes.iter().cycle().take(clicks).enumerate().map(|(number, code)| Click {
        domain: String::new(),
        code: code.clone(),
        at,
        visitor: scattered((first_visitor + number) as u64),
        head: false,
        user_agent: Some(AGENT.to_owned()),
        referrer: Some("news.example.com".to_owned()),
        country: Some("DE".to_owned()),
        variant: None,
        limited: false,
    });
    let batch = ClickBatch { id: format!("bench-{first_visitor}"), clicks: clicks.collect() };
    let body = json!({ "QueueUrl": queue, "MessageBody": batch.to_json()? });
    let sent = aws.aws("AmazonSQS.SendMessage", &body).await?;
    Ok(sent["MessageId"].as_str().ok_or("no message id")?.to_owned())
}

/// Hashes are spread evenly; numbers in a row are not (`SplitMix64`).
fn scattered(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
