//! What each operation costs at the store and the queues, read from the functions' own log.
//!
//! Every line there says how many calls were made and what capacity they consumed. Absent: guesses.
//! What a node does once for many requests shows in the mean over as many requests.

use serde_json::{Value, json};

use super::clicks::{self, BatchShape};
use super::client::Client;
use super::local_cloud::LocalCloud;
use super::log::{Cost, Log};
use crate::cold::target;
use crate::table::{Table, Verdict};
use crate::{Result, block_on};

/// A lease of codes lasts so long; it is one write.
pub(crate) const CODES_A_LEASE: f64 = 1_000.0;

/// Lots of a user's quota hold as many, so as many requests take exactly one.
const QUOTA_LEASE: usize = 100;

/// The anonymous quota is this large, and some of it is spent elsewhere.
const ANONYMOUS_LINKS: usize = 50;

/// What was counted, for the bill.
pub(crate) struct Counted {
    pub(crate) anonymous: Cost,
    pub(crate) keyed: Cost,
    pub(crate) miss: Cost,
    pub(crate) batches: Vec<(BatchShape, Cost)>,
}

pub(crate) fn measure() -> Result<(Table, Counted)> {
    let folder = target()?.join("bench/data");
    let server = LocalCloud::start(Some(&folder), None)?;
    block_on(async {
        let mut run = Run {
            client: Client::connect(&server.api).await?,
            log: Log::open(&folder.join("functions.log")),
            table: Table::new("Counted for each operation: calls · units · messages", "bar"),
        };
        let (anonymous, keyed) = run.making().await?;
        let code = run.owning().await?;
        let miss = run.following(&code).await?;
        let batches = run.counting(&server, &code).await?;
        run.reading(&code).await?;
        Ok((run.table, Counted { anonymous, keyed, miss, batches }))
    })
}

struct Run {
    client: Client,
    log: Log,
    table: Table,
}

impl Run {
    fn row(&mut self, what: &str, cost: Cost, bar: &str, kept: bool) {
        let verdict = if bar.is_empty() { Verdict::Note } else { Verdict::Counted(kept) };
        self.table.row(what, cost.to_string(), bar, verdict);
    }

    async fn shorten(&mut self, body: Value, with_key: bool) -> Result<Value> {
        let call = ("POST", "/api/v1/shorten");
        let made = self.client.call(call, &[], Some(&body), with_key).await?;
        Ok(serde_json::from_slice(made.body())?)
    }

    async fn making(&mut self) -> Result<(Cost, Cost)> {
        let page = |kind: &str, number: usize| json!({ "longUrl": format!("https://example.org/{kind}/{number}") });
        self.shorten(page("first", 0), false).await?;
        let first = self.log.mean("shortenUrl", 1).await?;
        self.row("shorten, a node's first (codes, salt, blocklist)", first, "", true);
        for number in 0..ANONYMOUS_LINKS {
            self.shorten(page("anonymous", number), false).await?;
        }
        let anonymous = self.log.mean("shortenUrl", ANONYMOUS_LINKS).await?;
        let fits = anonymous.calls <= 2.0;
        self.row("shorten without a key", anonymous, "1 put + 1 quota", fits);
        for number in 0..QUOTA_LEASE {
            self.shorten(page("keyed", number), true).await?;
        }
        let keyed = self.log.mean("shortenUrl", QUOTA_LEASE).await?;
        let fits = keyed.calls <= 1.0 + 1.0 / 100.0;
        self.row("shorten with a key, mean of 100", keyed, "1 put + 1/100", fits);
        // The first of these takes a new lot of the quota; the second shows what reuse costs.
        self.shorten(page("keyed", 0), true).await?;
        self.log.mean("shortenUrl", 1).await?;
        self.shorten(page("keyed", 0), true).await?;
        let reused = self.log.mean("shortenUrl", 1).await?;
        self.row("shorten with a key, had already", reused, "", true);
        let alias = json!({ "longUrl": "https://example.org/alias", "customAlias": "bench-alias" });
        self.shorten(alias, true).await?;
        let alias = self.log.mean("shortenUrl", 1).await?;
        let fits = alias.calls <= 1.0;
        self.row("shorten with a key and an alias", alias, "1 put", fits);
        Ok((anonymous, keyed))
    }

    async fn owning(&mut self) -> Result<String> {
        let made = self.shorten(json!({ "longUrl": "https://example.org/mine" }), true).await?;
        self.log.mean("shortenUrl", 1).await?;
        let code = made["shortCode"].as_str().ok_or("no code")?.to_owned();
        let path = format!("/api/v1/url/{code}");
        let body = json!({ "longUrl": "https://example.org/edited" });
        let matching = [("if-match", r#""1""#)];
        self.client.call(("PATCH", &path), &matching, Some(&body), true).await?;
        let edit = self.log.mean("amendLink", 1).await?;
        self.row("edit", edit, "1 put + 1 read", edit.calls <= 2.0);
        self.client.call(("DELETE", "/api/v1/url/bench-alias"), &[], None, true).await?;
        let delete = self.log.mean("deleteLink", 1).await?;
        self.row("delete", delete, "1 put + 1 read", delete.calls <= 2.0);
        Ok(code)
    }

    /// Apart enough to be idle, so that each has a line and a message of its own.
    async fn following(&mut self, code: &str) -> Result<Cost> {
        // A node learns the day's salt with its first click, and never again that day.
        let other = self.shorten(json!({ "longUrl": "https://example.org/other" }), true).await?;
        self.client.follow(other["shortCode"].as_str().ok_or("no code")?).await?;
        self.log.mean("redirect", 1).await?;
        self.pause().await;
        self.client.follow(code).await?;
        let miss = self.log.mean("redirect", 1).await?;
        let fits = miss.calls <= 1.0 && miss.units <= 0.5;
        self.row("follow, not in memory", miss, "1 · 0.5 · 1", fits);
        self.pause().await;
        self.client.follow(code).await?;
        let hit = self.log.mean("redirect", 1).await?;
        self.row("follow, in memory", hit, "0 · 0 · 1", hit.calls == 0.0 && hit.messages <= 1.0);
        Ok(miss)
    }

    async fn pause(&self) {
        tokio::time::sleep(std::time::Duration::from_millis(150)).await;
    }

    async fn counting(
        &mut self,
        server: &LocalCloud,
        code: &str,
    ) -> Result<Vec<(BatchShape, Cost)>> {
        let counted =
            clicks::count(&mut Client::connect(&server.aws).await?, &self.log, code).await?;
        for (batch, cost) in &counted {
            let what = batch.to_string();
            self.row(&what, *cost, "", true);
        }
        Ok(counted)
    }

    async fn reading(&mut self, code: &str) -> Result {
        self.client.call(("GET", "/api/v1/urls?limit=50"), &[], None, true).await?;
        let list = self.log.mean("listLinks", 1).await?;
        self.row("list 50", list, "", true);
        let path = format!("/api/v1/url/{code}/analytics?period=7d");
        let found = self.client.call(("GET", &path), &[], None, true).await?;
        let found: Value = serde_json::from_slice(found.body())?;
        let analytics = self.log.mean("readAnalytics", 1).await?;
        self.row("analytics of 7 days", analytics, "3 reads", analytics.calls <= 3.0);
        // Robots have no visitors and cost less: what was counted above must have been people.
        let (people, sent) = (found["clicks"].as_u64(), clicks::POPULAR + 50 + 2);
        let verdict = Verdict::Correct(people == u64::try_from(sent).ok());
        let people = people.map_or_else(String::new, |people| people.to_string());
        self.table.row("clicks by people on that link", people, &sent.to_string(), verdict);
        Ok(())
    }
}
