//! Redirects through the local HTTP API: how many a second, how long each takes, what is sent on.
//!
//! The server has one core and everything runs in it: the gateway, the functions, the emulated store
//! and queues, and the counting. The load has the other core, where there is one.

use std::error::Error;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Client;
use super::local_cloud::LocalCloud;
use crate::table::{Table, Verdict, grouped};
use crate::{Result, block_on};

const CONNECTIONS: usize = 16;
const LINKS: usize = 50;
const WARM_UP: Duration = Duration::from_secs(2);
const MEASURED: Duration = Duration::from_secs(10);
const P99_AT_MOST: Duration = Duration::from_millis(20);
const IDLE_REQUESTS: u64 = 25;
const IDLE_GAP: Duration = Duration::from_millis(200);
/// Counting may lag behind a load that takes all of the core.
const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) fn measure() -> Result<Table> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let pinned = cores > 1 && Command::new("taskset").arg("--version").output().is_ok();
    let server = LocalCloud::start(None, pinned.then_some("0"))?;
    if pinned {
        pin_to(&format!("1-{}", cores - 1))?;
    }
    let measured = block_on(drive(&server));
    if pinned {
        pin_to(&format!("0-{}", cores - 1))?;
    }
    let mut table = Table::new("Following links through the local HTTP API", "bar");
    let how = if pinned { "one core each" } else { "not pinned" };
    table.row("server and load", how.to_owned(), "", Verdict::Note);
    measured?.show(&mut table);
    Ok(table)
}

/// Everything here runs on the thread that is moved.
fn pin_to(cores: &str) -> Result {
    let own = std::process::id().to_string();
    Command::new("taskset").args(["-p", "-c", cores, &own]).output()?;
    Ok(())
}

/// What was seen.
struct Measured {
    requests: u64,
    seconds: f64,
    took: Vec<Duration>,
    server_seconds: f64,
    load_seconds: f64,
    all_requests: u64,
    messages: u64,
    counted: u64,
    lag: Duration,
    idle_messages: u64,
}

async fn drive(server: &LocalCloud) -> Result<Measured> {
    let mut client = Client::connect(&server.api).await?;
    let mut aws = Client::connect(&server.aws).await?;
    let codes = make_links(&mut client).await?;
    let (warm, _) = load(&server.api, &codes, WARM_UP).await?;
    let (server_before, own_before) = (server.cpu_seconds()?, own_cpu_seconds()?);
    let started = Instant::now();
    let (requests, mut took) = load(&server.api, &codes, MEASURED).await?;
    let seconds = started.elapsed().as_secs_f64();
    let server_seconds = server.cpu_seconds()? - server_before;
    let load_seconds = own_cpu_seconds()? - own_before;
    took.sort_unstable();
    let ended = Instant::now();
    let counted = settle(&mut client, &codes, warm + requests).await?;
    let lag = ended.elapsed();
    let messages = messages(&mut aws).await?;
    for _ in 0..IDLE_REQUESTS {
        client.follow(&codes[0]).await?;
        tokio::time::sleep(IDLE_GAP).await;
    }
    settle(&mut client, &codes, warm + requests + IDLE_REQUESTS).await?;
    let idle_messages = self::messages(&mut aws).await? - messages;
    Ok(Measured {
        requests,
        seconds,
        took,
        server_seconds,
        load_seconds,
        all_requests: warm + requests,
        messages,
        counted,
        lag,
        idle_messages,
    })
}

async fn make_links(client: &mut Client) -> Result<Vec<String>> {
    let mut codes = Vec::with_capacity(LINKS);
    for number in 0..LINKS {
        let body = json!({ "longUrl": format!("https://example.org/a/page/{number}") });
        let made = client.call(("POST", "/api/v1/shorten"), &[], Some(&body), true).await?;
        let made: Value = serde_json::from_slice(made.body())?;
        codes.push(made["shortCode"].as_str().ok_or("no code")?.to_owned());
    }
    Ok(codes)
}

/// Each connection sends its next request when the last is answered.
async fn load(host: &str, codes: &[String], so_long: Duration) -> Result<(u64, Vec<Duration>)> {
    let until = Instant::now() + so_long;
    let connections = (0..CONNECTIONS).map(|start| async move {
        let mut client = Client::connect(host).await?;
        let mut took = Vec::new();
        for code in codes.iter().cycle().skip(start * codes.len() / CONNECTIONS) {
            let started = Instant::now();
            if started >= until {
                break;
            }
            if !client.follow(code).await? {
                return Err(format!("{code} led nowhere").into());
            }
            took.push(started.elapsed());
        }
        Ok::<_, Box<dyn Error>>(took)
    });
    let took = futures::future::try_join_all(connections).await?.concat();
    Ok((took.len() as u64, took))
}

/// Waits until `followed` clicks are counted, and says how many are.
async fn settle(client: &mut Client, codes: &[String], followed: u64) -> Result<u64> {
    let started = Instant::now();
    loop {
        let mut counted = 0;
        for code in codes {
            let path = format!("/api/v1/url/{code}");
            let link = client.call(("GET", &path), &[], None, true).await?;
            let link: Value = serde_json::from_slice(link.body())?;
            let count = |name: &str| link[name].as_u64().unwrap_or(0);
            counted += count("clicks") + count("bots") + count("previews");
        }
        if counted >= followed || started.elapsed() > PATIENCE {
            return Ok(counted);
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// How many messages were counted: each leaves its name behind, once.
async fn messages(aws: &mut Client) -> Result<u64> {
    let tables = aws.aws("DynamoDB_20120810.ListTables", &json!({})).await?;
    let names = tables["TableNames"].as_array().cloned().unwrap_or_default();
    let is_links = |name: &&Value| name.as_str().is_some_and(|name| name.contains("Links"));
    let mut scan = json!({
        "TableName": names.iter().find(is_links).ok_or("no table of links")?,
        "Select": "COUNT",
        "FilterExpression": "begins_with(pk, :batch) AND sk = :first",
        "ExpressionAttributeValues": { ":batch": { "S": "batch#" }, ":first": { "S": "0" } },
    });
    let mut messages = 0;
    loop {
        let page = aws.aws("DynamoDB_20120810.Scan", &scan).await?;
        messages += page["Count"].as_u64().unwrap_or(0);
        match page.get("LastEvaluatedKey").filter(|key| !key.is_null()) {
            Some(key) => scan["ExclusiveStartKey"] = key.clone(),
            None => return Ok(messages),
        }
    }
}

/// What this thread has spent so far, as the kernel accounts it.
#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn own_cpu_seconds() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat")?;
    let nanoseconds: u64 = text.split_whitespace().next().ok_or("no CPU time")?.parse()?;
    Ok(nanoseconds as f64 / 1e9)
}

impl Measured {
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    fn show(&self, table: &mut Table) {
        let milliseconds = |time: Duration| format!("{:.2}", time.as_secs_f64() * 1e3);
        let percentile = |percent: usize| {
            let place = (self.took.len() * percent / 100).min(self.took.len().saturating_sub(1));
            self.took.get(place).copied().unwrap_or_default()
        };
        let requests = self.requests as f64;
        let mut note = |what: &str, measured| table.row(what, measured, "", Verdict::Note);
        note("requests/s, 16 connections, 50 links", format!("{:.0}", requests / self.seconds));
        note("p50, ms", milliseconds(percentile(50)));
        let verdict = Verdict::Speed(percentile(99) < P99_AT_MOST);
        table.row("p99, ms", milliseconds(percentile(99)), "< 20", verdict);
        let mut note = |what: &str, measured| table.row(what, measured, "", Verdict::Note);
        let busy = |seconds: f64| format!("{:.0} %", 100.0 * seconds / self.seconds);
        note("server, of one core", busy(self.server_seconds));
        let each = 1e6 * self.server_seconds / requests;
        note("server, µs of CPU a request, all included", format!("{each:.1}"));
        note("load generator, of one core", busy(self.load_seconds));
        let verdict = Verdict::Correct(self.counted == self.all_requests);
        let followed = grouped(self.all_requests);
        table.row("clicks counted, warm-up included", grouped(self.counted), &followed, verdict);
        let lag = format!("{:.1}", self.lag.as_secs_f64());
        table.row("the last of them after, s", lag, "", Verdict::Note);
        let verdict = Verdict::Counted(self.messages * 10 <= self.all_requests);
        let rate = self.all_requests as f64 / self.messages.max(1) as f64;
        let messages = format!("{} (1 in {rate:.1})", grouped(self.messages));
        table.row("messages for them", messages, "≤ 1 in 10", verdict);
        let verdict = Verdict::Counted(self.idle_messages <= IDLE_REQUESTS);
        let measured = self.idle_messages.to_string();
        table.row("messages for 25 redirects 200 ms apart", measured, "≤ 25", verdict);
    }
}
