//! Whether every node has heard of a decision, in the time that it has.

use std::net::IpAddr;
use tests::Result;

use super::requests::{Exchange, Request, VISITED, address};
use super::{SKEW_MS, World};

/// Requests at once, and so nodes that are asked.
const NODES: usize = 3;

/// How long a rule may take to reach every node, and a block.
pub(super) const RULE_MS: i64 = 30_000;
pub(super) const BLOCK_MS: i64 = 10_000;

impl World {
    /// So much later, each node's first request.
    pub(super) async fn ask_every_node(
        &mut self,
        later_ms: i64,
        request: Request,
    ) -> Vec<Exchange> {
        self.lab.cloud.faults.pause();
        self.lab.cloud.functions.quiesce().await;
        self.lab.clock.advance_ms(later_ms);
        let exchange = self.send(vec![request; NODES]).await;
        self.lab.cloud.functions.quiesce().await;
        self.lab.cloud.faults.resume();
        exchange
    }

    /// Every node holds `user` to `limit` of `rule` at `resource`, or to none.
    pub(super) async fn expect_limit(
        &mut self,
        later_ms: i64,
        resource: &str,
        user: &str,
        expected: Option<(&str, i64)>,
    ) -> Result {
        let request = Request {
            resource: resource.to_owned(),
            user: user.to_owned(),
            ip: address(1),
            units: 1,
            visit: false,
        };
        for exchange in self.ask_every_node(later_ms, request).await {
            let told = exchange.rule.as_deref().zip(exchange.limit);
            let refused = expected.is_some_and(|(_, limit)| limit == 0);
            if told != expected || (refused && exchange.status != 429) {
                return Err(format!("{expected:?} was promised, and then {exchange:?}"));
            }
        }
        Ok(())
    }

    /// Every node turns the address away, or none does.
    pub(super) async fn expect_block(
        &mut self,
        later_ms: i64,
        ip: IpAddr,
        blocked: bool,
    ) -> Result {
        let request = Request {
            resource: VISITED.to_owned(),
            user: String::new(),
            ip,
            units: 1,
            visit: true,
        };
        for exchange in self.ask_every_node(later_ms, request).await {
            if (exchange.status == 403) != blocked || exchange.status >= 500 {
                return Err(format!("block of {ip}: {blocked}, and then {exchange:?}"));
            }
        }
        Ok(())
    }

    /// When something that ends after `ms` has ended by every clock, if so much of it has passed.
    pub(super) fn surely_after(&self, ms: i64, passed_ms: i64) -> i64 {
        ms - passed_ms + 2 * self.slack_ms.max(SKEW_MS)
    }
}
