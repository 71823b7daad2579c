//! What holds of links and clicks once nothing goes wrong any more.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tests::Result;

use domain::links::ClickBatch;
use http::Method;
use serde_json::Value;

use super::{ExpectedLink, World, address};
use crate::clicks;
use crate::items::{Item, number, text};

const OWNERS: [&str; 2] = ["ada", "bob"];

/// No other visitor uses it, so its clicks can be told from all others.
const FRESH: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0";

impl World {
    pub(super) async fn check(&mut self) -> Result {
        self.lab.cloud.functions.quiesce().await;
        self.lab.cloud.functions.retire(Duration::ZERO).await;
        let seen = self.visit_afresh().await?;
        self.run_until_idle().await;
        let rows = clicks::rows(&self.lab).await;
        let batches = clicks::batches(&clicks::messages(&self.lab));
        clicks::check_counts(&self.lab, &rows, &batches)?;
        clicks::check_absent(&self.lab, &rows, &["203.0.113.".to_owned()])?;
        self.check_visits(&batches, &seen)?;
        for (code, link) in &self.expected.links {
            check_link(&rows, code, link)?;
        }
        self.check_creations(&rows)?;
        self.check_codes()
    }

    /// Held clicks go out, messages arrive, dead letters are put back, the scan comes by.
    async fn run_until_idle(&self) {
        self.lab.cloud.functions.quiesce().await;
        self.lab.cloud.functions.retire(Duration::ZERO).await;
        for _ in 0..2 {
            // Longer than a message can be delayed or in flight.
            self.lab.advance_seconds(400);
            self.lab.cloud.settle().await;
        }
        while clicks::redrive(&self.lab) > 0 {
            self.lab.cloud.settle().await;
        }
        self.lab.sweep().await;
    }

    /// A new visitor follows every link and sees the last acknowledged change; returns which clicks count.
    async fn visit_afresh(&mut self) -> Result<BTreeMap<String, u64>> {
        let mut seen = BTreeMap::new();
        for (code, link) in &self.expected.links {
            let call = self.lab.call(Method::GET, &format!("/{code}")).from_ip(address(100));
            let answer = call.header("user-agent", FRESH).send().await;
            let (status, location) = (answer.status.as_u16(), answer.header("location"));
            let leads = status == 302 && location == link.url;
            let holds = match (link.max_clicks, &link.fallback) {
                // Visitors hear of a block even if the link is deleted too.
                (None, _) if link.blocked => status == 451,
                (None, _) if link.deleted => status == 404,
                (None, _) => leads,
                (Some(_), Some(fallback)) => leads || (status == 302 && location == fallback),
                (Some(_), None) => leads || status == 410,
            };
            if !holds {
                return Err(format!("{code} is {link:?} and leads to {status} {location}"));
            }
            let clicks = u64::from(status == 302);
            *self.expected.visits.entry(code.clone()).or_default() += clicks;
            seen.insert(code.clone(), clicks);
        }
        Ok(seen)
    }

    /// No click is in two batches, and none of the last ones was lost.
    fn check_visits(
        &self,
        batches: &BTreeMap<String, ClickBatch>,
        seen: &BTreeMap<String, u64>,
    ) -> Result {
        let (mut all, mut fresh) = (BTreeMap::<&str, u64>::new(), BTreeMap::<&str, u64>::new());
        for click in batches.values().flat_map(|batch| &batch.clicks).filter(|click| !click.head) {
            *all.entry(&click.code).or_default() += 1;
            let is_fresh = click.user_agent.as_deref() == Some(FRESH);
            *fresh.entry(&click.code).or_default() += u64::from(is_fresh);
        }
        for (code, sent) in &all {
            let asked = self.expected.visits.get(*code).copied().unwrap_or(0);
            if *sent > asked {
                return Err(format!("{code} was asked for {asked} times and told {sent} times"));
            }
        }
        for (code, clicks) in seen {
            if fresh.get(code.as_str()).copied().unwrap_or(0) != *clicks {
                return Err(format!("{code} lost its last visitor, though nothing went wrong"));
            }
        }
        Ok(())
    }

    /// A key made one link, and so did a user who wanted one destination.
    fn check_creations(&self, rows: &[Item]) -> Result {
        let links = || rows.iter().filter(|item| text(item, "sk") == "link");
        for (key, code) in &self.expected.once {
            let made: Vec<&str> = links()
                .filter(|item| text(item, "note") == key)
                .map(|item| text(item, "code"))
                .collect();
            if made != [code] {
                return Err(format!("{key} was answered with {code} and made {made:?}"));
            }
        }
        let mut untouched = BTreeSet::new();
        for item in links().filter(|item| number(item, "v") == Some(1)) {
            let (owner, url) = (text(item, "owner"), text(item, "long_url"));
            if url.contains("/same-") && !untouched.insert((owner, url)) {
                return Err(format!("{owner} has two links to {url}"));
            }
        }
        Ok(())
    }

    /// Codes that were made up never met: each was tried for one link only.
    fn check_codes(&self) -> Result {
        let mut tried: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for call in self.lab.cloud.faults.recorded() {
            let body: Value = serde_json::from_slice(&call.body).unwrap();
            let parts = body["TransactItems"].as_array().cloned().unwrap_or_default();
            let puts = parts.iter().map(|part| &part["Put"]["Item"]).chain([&body["Item"]]);
            for item in puts.filter(|item| item["sk"]["S"] == "link" && item["v"]["N"] == "1") {
                let code = item["code"]["S"].as_str().unwrap().to_owned();
                let token = item["made_by"]["S"].as_str().unwrap_or_default();
                tried.entry(code).or_default().insert(token.to_owned());
            }
        }
        let is_alias = |code: &str| code.contains('-');
        match tried.iter().find(|(code, tokens)| !is_alias(code) && tokens.len() > 1) {
            Some((code, tokens)) => Err(format!("{code} was made up {} times", tokens.len())),
            None => Ok(()),
        }
    }
}

/// The row says what was expected, and every version of it is accounted for.
fn check_link(rows: &[Item], code: &str, link: &ExpectedLink) -> Result {
    let link_pk = format!("link##{code}");
    let row = rows.iter().find(|item| text(item, "pk") == link_pk && text(item, "sk") == "link");
    let Some(row) = row else { return Err(format!("{code} is gone: {link:?}")) };
    let clicks_pk = format!("clicks##{code}");
    let clicks: u64 = rows
        .iter()
        .filter(|item| text(item, "pk") == clicks_pk && text(item, "sk").starts_with("total#"))
        .filter_map(|item| number(item, "n"))
        .sum();
    let spent = row.contains_key("spent_at");
    let since = u64::from(spent && !link.spent);
    let owner = link.owner.map_or("", |owner| OWNERS[owner]);
    let facts = [
        ("its owner", text(row, "owner") == owner),
        ("its destination", text(row, "long_url") == link.url),
        ("its deletion", row.contains_key("deleted_at") == link.deleted),
        ("its block", row.contains_key("blocked_at") == link.blocked),
        ("its number of clicks", number(row, "max_clicks") == link.max_clicks),
        ("its end", spent == link.max_clicks.is_some_and(|most| clicks >= most)),
        (
            "a change for each version",
            link.version.is_none_or(|known| number(row, "v") == Some(known + since)),
        ),
    ];
    match facts.iter().find(|(_, holds)| !holds) {
        Some((fact, _)) => Err(format!("{code} lacks {fact}: {link:?}, {clicks}, {row:?}")),
        None => Ok(()),
    }
}
