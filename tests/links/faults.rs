//! Links and their clicks under faults.
//!
//! Users and nobodies make, change and follow links, repeating what got no definite answer. Batches
//! of clicks are delivered late, twice and side by side. Afterwards nothing goes wrong any more,
//! everything comes to rest, and what was acknowledged is compared with what is there.

mod changes;
mod creations;
mod invariants;
mod visits;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use domain::SplitMix64;
use http::Method;
use local::faults::{Fault, Faults};
use serde_json::{Value, json};
use tests::{Lab, RequestBuilder, Response, Result, Setup, root_key};

use crate::faults::{run, sweep};

const SHORTEN: &str = "/api/v1/shorten";
const ACTIONS: u64 = 5;

#[test]
fn seeds_hold() {
    sweep("links", |seed| run(scenario(seed, Faults::seeded(seed, 60))));
}

/// A link that was acknowledged, as the last acknowledged change left it.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an expectation of its own")]
struct ExpectedLink {
    /// The user; none if it was made without a key.
    owner: Option<usize>,
    url: String,
    max_clicks: Option<u64>,
    fallback: Option<String>,
    deleted: bool,
    blocked: bool,
    /// Its owner asks for the same destination again and must get this very link.
    reusable: bool,
    /// The version of the last answer, unless the answer to a later change was lost.
    version: Option<u64>,
    /// Whether its clicks were used up at that version.
    spent: bool,
}

/// What was acknowledged, and so must be true.
#[derive(Default)]
struct Expected {
    links: BTreeMap<String, ExpectedLink>,
    /// Idempotency keys that made a link; each is the note of its link too.
    once: BTreeMap<String, String>,
    /// How often each code was asked for, counted or not.
    visits: BTreeMap<String, u64>,
}

struct World {
    lab: Lab,
    keys: [String; 2],
    dice: SplitMix64,
    expected: Expected,
    action: u64,
}

pub(super) async fn scenario(seed: u64, faults: Arc<Faults>) -> Result<BTreeMap<Fault, u64>> {
    let mut world = World::new(seed, faults).await;
    for action in 0..ACTIONS {
        world.action = action;
        world.act().await?;
        match world.dice.below(4) {
            0 => world.deliver().await,
            1 => world.deliver_side_by_side().await,
            _ => world.visit().await,
        }
    }
    let counts = world.lab.cloud.faults.counts();
    world.lab.cloud.faults.stop();
    world.check().await?;
    Ok(counts)
}

impl World {
    async fn new(seed: u64, faults: Arc<Faults>) -> Self {
        faults.pause();
        let lab = Lab::with(Setup { seed, faults, skew_ms: 5_000, ..Setup::default() });
        lab.cloud.faults.record(|call| {
            // What makes a link, and what says that it was followed.
            let makes_link = || String::from_utf8_lossy(&call.body).contains(r#""link#"#);
            match call.operation.as_str() {
                "SendMessage" => true,
                "PutItem" | "TransactWriteItems" => makes_link(),
                _ => false,
            }
        });
        // Several invocations often find at the same time that a link is used up.
        lab.cloud.faults.delay(Some(|call| {
            call.operation == "UpdateItem"
                && String::from_utf8_lossy(&call.body).contains("SET spent_at")
        }));
        let keys = [lab.user("ada", &["member"]).await, lab.user("bob", &["member"]).await];
        let dice = SplitMix64::new(seed ^ 0x11_4b);
        let world = Self { lab, keys, dice, expected: Expected::default(), action: 0 };
        world.lab.cloud.faults.resume();
        world
    }

    async fn act(&mut self) -> Result {
        match self.dice.below(16) {
            0 | 10 => self.make_another().await,
            1 => self.make_alias().await,
            2..5 => self.make_or_reuse().await,
            5..7 => self.make_with_key().await,
            7..9 => self.make_limited().await,
            9 => self.race_for_alias().await,
            11 => self.edit().await,
            12 => self.race_to_edit().await,
            13 => self.refill().await,
            14 => self.delete_or_restore().await,
            _ => self.block_or_unblock().await,
        }
    }

    /// A request to make a link, by a user or without a key.
    fn shorten(&self, who: Option<usize>, body: &Value) -> RequestBuilder<'_> {
        let call = self.lab.call(Method::POST, SHORTEN).json(body).from_ip(address(200));
        match who {
            Some(user) => call.by(&self.keys[user]),
            None => call,
        }
    }

    fn admin(&self, method: Method, path: &str) -> RequestBuilder<'_> {
        self.lab.call(method, path).by(&root_key())
    }

    /// The link as it is now.
    async fn read(&self, code: &str) -> Result<Response> {
        let path = format!("/api/v1/url/{code}");
        let (answer, _) = self.admin(Method::GET, &path).send_until_definite().await?;
        if answer.status == 200 {
            return Ok(answer);
        }
        Err(format!("{code} was expected and is not there: {}", answer.body))
    }

    /// The code of a expected link that `fits`.
    fn random_link(&mut self, fits: impl Fn(&ExpectedLink) -> bool) -> Option<String> {
        let codes: Vec<String> = self
            .expected
            .links
            .iter()
            .filter(|(_, link)| fits(link))
            .map(|(code, _)| code.clone())
            .collect();
        let index = self.dice.index(codes.len());
        codes.get(index).cloned()
    }
}

/// Addresses that appear in no other place, so that a leak can be seen.
fn address(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(203, 0, 113, last))
}

fn plain(url: &str) -> Value {
    json!({ "longUrl": url })
}
