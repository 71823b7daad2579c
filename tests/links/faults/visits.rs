//! Following links from many places, and delivering what is said about it.

use futures::future::join_all;
use http::Method;
use serde_json::{Value, json};

use super::{World, address};

const AGENTS: [&str; 5] = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/131.0.0.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 \
     Mobile/15E148 Safari/604.1",
    "Googlebot/2.1 (+http://www.google.com/bot.html)",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
];

impl World {
    /// A few visitors at once, each on an instance of their own.
    pub(super) async fn visit(&mut self) {
        if let Some(code) = self.random_link(|_| true) {
            self.visit_link(&code).await;
            let ms = i64::try_from(self.dice.below(2_000)).unwrap_or(0);
            self.lab.clock.advance_ms(ms);
        }
    }

    pub(super) async fn visit_link(&mut self, code: &str) {
        let visitors = 1 + self.dice.index(3);
        self.visit_by(code, visitors).await;
    }

    async fn visit_by(&mut self, code: &str, visitors: usize) {
        let path = format!("/{code}");
        let mut visits = Vec::new();
        for _ in 0..visitors {
            let method = if self.dice.index(6) == 0 { Method::HEAD } else { Method::GET };
            if method == Method::GET {
                *self.expected.visits.entry(code.to_owned()).or_default() += 1;
            }
            let source = address(u8::try_from(1 + self.dice.index(40)).unwrap_or(1));
            let agent = AGENTS[self.dice.index(AGENTS.len())];
            visits.push((method, source, agent));
        }
        let lab = &self.lab;
        let visits = visits.into_iter().map(|(method, source, agent)| {
            lab.call(method, &path).from_ip(source).header("user-agent", agent).send()
        });
        join_all(visits).await;
    }

    /// Delivers what is in the queue.
    pub(super) async fn count(&self) {
        let cloud = &self.lab.cloud;
        let mut mappings = cloud.pump.mappings().iter();
        if let Some(mapping) = mappings.find(|mapping| mapping.function == "CountClicks") {
            cloud.pump.poll(mapping).await;
        }
    }

    /// Lets time pass and delivers; now and then all instances are forgotten.
    pub(super) async fn deliver(&mut self) {
        self.count().await;
        let seconds = i64::try_from(self.dice.below(200)).unwrap_or(0);
        self.lab.advance_seconds(seconds);
        match self.dice.index(6) {
            0 => self.lab.cloud.functions.go_cold(),
            1 => self.lab.cloud.functions.retire(std::time::Duration::ZERO).await,
            _ => {}
        }
    }

    /// Two pollers deliver a message each at the same time; what was said of one link meets there.
    pub(super) async fn deliver_side_by_side(&mut self) {
        let Some(code) = self.random_link(|link| link.state() == "live") else { return };
        self.visit_by(&code, 2).await;
        self.lab.cloud.functions.quiesce().await;
        let name = self.lab.queue("ClicksQueue");
        let queues = self.lab.cloud.services.queues();
        let deliveries = [1, 1].map(|most| {
            let messages = queues.receive(&name, most, None).unwrap_or_default();
            let records: Vec<_> = messages.iter().map(record).collect();
            let event = json!({ "Records": records }).to_string().into_bytes();
            let work = self.lab.cloud.functions.invoke("CountClicks", event);
            async { (messages, work.await) }
        });
        for (messages, outcome) in join_all(deliveries).await {
            let done = outcome.is_ok_and(|answer| !answer.windows(6).any(|w| w == b"itemId"));
            for message in messages.iter().filter(|_| done) {
                let _ = queues.delete(&name, &message.receipt_handle);
            }
        }
    }
}

fn record(message: &queues::Message) -> Value {
    json!({
        "messageId": message.id,
        "receiptHandle": message.receipt_handle,
        "body": message.body,
        "attributes": { "ApproximateReceiveCount": "1" },
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:clicks",
        "awsRegion": "us-east-1",
    })
}
