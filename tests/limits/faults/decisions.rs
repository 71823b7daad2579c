//! What admins decide while all this happens, and what nodes decide themselves.

use std::net::IpAddr;

use domain::Timestamp;
use futures::future::join_all;
use http::Method;
use local::faults::Fault;
use serde_json::{Value, json};
use tests::{RequestBuilder, Response, Result, root_key};

use super::World;
use super::probes::{BLOCK_MS, RULE_MS};
use super::requests::{Request, USERS, VISITED, address};

const MOVING: &str = "/admin/ratelimits/moving";
const PLACE: &str = "/t/moving";

impl World {
    fn admin(&self, method: Method, path: &str) -> RequestBuilder<'_> {
        self.lab.call(method, path).by(&root_key())
    }

    async fn save(&self, path: &str, body: &Value) -> Result<Response> {
        let put = || self.admin(Method::PUT, path).json(body);
        let (answer, _) = self.retry(put).await?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        Err(format!("{path} was not saved: {} {}", answer.status, answer.body))
    }

    async fn remove(&self, path: &str) -> Result {
        let (answer, troubled) = self.retry(|| self.admin(Method::DELETE, path)).await?;
        match answer.status.as_u16() {
            204 => Ok(()),
            // It met what it had done itself and not heard of.
            404 if troubled => Ok(()),
            status => Err(format!("{path} was not deleted: {status} {}", answer.body)),
        }
    }

    /// Notes the version that a change was acknowledged with: no two have the same.
    fn record_version(&mut self, answer: &Response) -> Result<u64> {
        let etag = answer.header("etag").trim_matches('"');
        let version = etag.parse().map_err(|_| format!("{etag} is no version"))?;
        if self.versions.insert(version) {
            return Ok(version);
        }
        Err(format!("version {version} was acknowledged twice"))
    }

    async fn save_moving(&mut self, limit: i64) -> Result<u64> {
        let answer = self.save(MOVING, &moving(limit)).await?;
        self.moving = Some(limit);
        self.record_version(&answer)
    }

    pub(super) async fn change_rule(&mut self) -> Result {
        let limit = [0, 40, 500][self.dice.index(3)];
        self.save_moving(limit).await?;
        self.expect_limit(RULE_MS, PLACE, USERS[0], Some(("moving", limit))).await
    }

    pub(super) async fn delete_rule(&mut self) -> Result {
        if self.moving.is_none() {
            self.save_moving(40).await?;
        }
        self.remove(MOVING).await?;
        self.moving = None;
        self.versions.clear();
        // Nothing but what comes with the program is left.
        self.expect_limit(RULE_MS, PLACE, USERS[0], Some(("user-minute", 6_000))).await
    }

    pub(super) async fn change_override(&mut self) -> Result {
        const LASTS_MS: i64 = 100_000;
        let path = format!("/admin/ratelimits/overrides/user/{}/leased", USERS[1]);
        let begun_ms = self.lab.clock.now_ms();
        let ends = self.dice.below(2) == 0;
        let mut body = json!({ "limit": 100 });
        if ends {
            // However long the store keeps the answer away.
            let at = Timestamp::from_millisecond(begun_ms + LASTS_MS).unwrap();
            body["expiresAt"] = json!(at.to_string());
        }
        self.save(&path, &body).await?;
        let took_ms = self.lab.clock.now_ms() - begun_ms;
        if !ends || took_ms + RULE_MS + 3 * self.slack_ms < LASTS_MS {
            self.expect_limit(RULE_MS, "/t/leased", USERS[1], Some(("leased", 100))).await?;
        }
        let later_ms = if ends {
            let passed_ms = self.lab.clock.now_ms() - begun_ms;
            self.surely_after(LASTS_MS, passed_ms).max(RULE_MS)
        } else {
            self.remove(&path).await?;
            RULE_MS
        };
        self.expect_limit(later_ms, "/t/leased", USERS[1], Some(("leased", 160))).await
    }

    pub(super) async fn change_firewall(&mut self) -> Result {
        let (path, ip) = ("/admin/firewall/wall", address(66));
        let body = json!({ "action": "deny", "cidrs": [format!("{ip}/32")] });
        self.save(path, &body).await?;
        self.expect_block(BLOCK_MS, ip, true).await?;
        self.remove(path).await?;
        self.expect_block(BLOCK_MS, ip, false).await
    }

    /// Three people change the same version, one of them to nothing; at most one may succeed.
    pub(super) async fn race_for_a_version(&mut self) -> Result {
        let version = format!("\"{}\"", self.save_moving(500).await?);
        let change = |limit: Option<i64>| {
            let method = if limit.is_some() { Method::PUT } else { Method::DELETE };
            let call = self.admin(method, MOVING).header("if-match", &version);
            let call = match limit {
                Some(limit) => call.json(&moving(limit)),
                None => call,
            };
            call.send()
        };
        let request = [Some(41), Some(42), None];
        let statuses = join_all(request.map(change)).await.into_iter().map(|it| it.status.as_u16());
        let statuses: Vec<u16> = statuses.collect();
        let won = statuses.iter().filter(|status| **status < 300).count();
        let moved = statuses.iter().filter(|status| [404, 412].contains(*status)).count();
        if won > 1 || moved > 2 {
            return Err(format!("version {version} met three changes: {statuses:?}"));
        }
        let (now, _) = self.retry(|| self.admin(Method::GET, MOVING)).await?;
        let stands = (now.status == 200).then(|| now.body["limit"].as_i64().unwrap_or(-1));
        for (status, request) in statuses.into_iter().zip(request) {
            let is_it = stands == request;
            if (status < 300 && !is_it) || ((300..500).contains(&status) && is_it) {
                return Err(format!("{request:?} was answered {status}, and then {stands:?}"));
            }
        }
        self.moving = stands;
        self.versions.clear();
        Ok(())
    }

    /// A caller is refused so often that a node blocks the address everywhere, for a while.
    pub(super) async fn offend(&mut self) -> Result {
        const LASTS_MS: i64 = 120_000;
        self.offenders += 1;
        let ip = address(200 + self.offenders);
        // A node at work after its response is not there for the next request.
        self.lab.cloud.functions.quiesce().await;
        let deaths = self.deaths();
        let begun_ms = self.lab.clock.now_ms();
        let mut refused = 0;
        for _ in 0..3 {
            refused += u32::from(self.is_refused(ip).await);
        }
        let must = refused == 3 && self.deaths() == deaths;
        self.lab.cloud.faults.pause();
        // What the node could not write it writes after its next answer.
        self.is_refused(ip).await;
        let name = format!("/admin/firewall/auto-203-0-113-{}", 200 + self.offenders);
        let found = self.admin(Method::GET, &name).send().await;
        self.lab.cloud.faults.resume();
        if found.status != 200 {
            let why = format!("no node blocked {ip}: {} {}", found.status, found.body);
            return if must { Err(why) } else { Ok(()) };
        }
        self.expect_block(BLOCK_MS, ip, true).await?;
        let passed_ms = self.lab.clock.now_ms() - begun_ms;
        let later_ms = self.surely_after(LASTS_MS, passed_ms);
        self.expect_block(later_ms, ip, false).await
    }

    async fn is_refused(&mut self, ip: IpAddr) -> bool {
        let (resource, user) = (VISITED.to_owned(), String::new());
        // There never are so many, so nothing is debited.
        let exchange =
            self.send(vec![Request { resource, user, ip, units: 5, visit: false }]).await;
        self.lab.cloud.functions.quiesce().await;
        exchange[0].status == 429
    }

    /// How many nodes have died.
    fn deaths(&self) -> u64 {
        let counts = self.lab.cloud.faults.counts();
        [Fault::CrashBefore, Fault::CrashAfter].iter().filter_map(|kind| counts.get(kind)).sum()
    }
}

fn moving(limit: i64) -> Value {
    json!({
        "resources": [PLACE], "dimension": "user", "algorithm": "fixed-window",
        "limit": limit, "windowSeconds": 60,
    })
}
