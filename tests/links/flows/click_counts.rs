//! A hundred thousand clicks on fifty links, from the visitor to the statistics.
//!
//! Redirects run on four instances, undisturbed: what an instance holds when it dies is lost by
//! design. From the queue on, messages come twice, late and in another order, and `count-clicks`
//! dies at its calls. In the end every click is counted once and every visitor, nearly, too.

use std::collections::BTreeSet;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::SplitMix64;
use domain::links::Code;
use futures::future::join_all;
use links::store::Links;
use local::faults::Faults;
use queues::NewMessage;
use tests::{Lab, Setup};

use crate::clicks;

const CLICKS: usize = 100_000;
const LINKS: usize = 50;
const INSTANCES: usize = 4;

/// Rounds between two deliveries.
const ROUNDS: usize = 2_500;

const DAY: &str = "2026-03-01";

/// What was really done to a link.
#[derive(Default)]
struct Actual {
    clicks: u64,
    heads: u64,
    /// Those who are neither robots nor previews.
    people: BTreeSet<usize>,
}

#[tokio::test(start_paused = true)]
async fn a_hundred_thousand_clicks_are_counted_once() {
    let seed = 7;
    let faults = Faults::seeded(seed, 2);
    faults.pause();
    let lab = Lab::with(Setup { seed, faults, ..Setup::default() });
    clicks::record_sends(&lab);
    for link in 0..LINKS {
        seed_link(&lab, link).await;
    }
    let mut traffic = Traffic::new(seed);
    let mut handled = 0;
    while traffic.done < CLICKS {
        for _ in 0..ROUNDS {
            if traffic.done < CLICKS {
                traffic.round(&lab).await;
            }
        }
        lab.cloud.functions.quiesce().await;
        handled += deliver(&lab, &mut traffic.dice).await;
    }
    let injected = lab.cloud.faults.counts();
    lab.cloud.faults.stop();
    lab.cloud.functions.retire(Duration::ZERO).await;
    lab.run_until_idle().await;
    while clicks::redrive(&lab) > 0 {
        lab.cloud.settle().await;
    }
    let messages = clicks::messages(&lab);
    let requests = traffic.done + traffic.heads;
    println!(
        "{} clicks and {} heads in {} messages (1 for {} requests), {handled} copies more; {injected:?}",
        traffic.done,
        traffic.heads,
        messages.len(),
        requests / messages.len(),
    );
    assert!(messages.len() * 10 <= requests, "{} messages", messages.len());
    let rows = clicks::rows(&lab).await;
    clicks::check_counts(&lab, &rows, &clicks::batches(&messages)).unwrap();
    clicks::check_absent(&lab, &rows, &["198.18.".to_owned()]).unwrap();
    check_statistics(&lab, &traffic.actual).await;
}

async fn seed_link(lab: &Lab, link: usize) {
    let text = |value: String| AttributeValue::S(value);
    let put = lab.aws().dynamodb().put_item().table_name(lab.table("LinksTable"));
    put.item("pk", text(format!("link##{}", code(link))))
        .item("sk", text("link".to_owned()))
        .item("to", text(format!("https://example.org/{link}")))
        .item("created_at", AttributeValue::N("1772000000000".to_owned()))
        .send()
        .await
        .unwrap();
}

fn code(link: usize) -> String {
    format!("link{link:02}x")
}

/// Visitors, and what they were.
struct Traffic {
    dice: SplitMix64,
    actual: Vec<Actual>,
    done: usize,
    heads: usize,
}

impl Traffic {
    fn new(seed: u64) -> Self {
        let actual = (0..LINKS).map(|_| Actual::default()).collect();
        Self { dice: SplitMix64::new(seed), actual, done: 0, heads: 0 }
    }

    /// One request on each instance, all at the same time.
    async fn round(&mut self, lab: &Lab) {
        let events: Vec<_> = (0..INSTANCES).map(|_| self.event()).collect();
        let functions = &lab.cloud.functions;
        let visits = events.into_iter().map(|event| functions.invoke("Redirect", event));
        for answer in join_all(visits).await {
            let answer = String::from_utf8(answer.unwrap()).unwrap();
            let led = answer.contains(r#""statusCode":302"#) || answer.contains("og:title");
            assert!(led, "{answer}");
        }
        lab.clock.advance_ms(10);
    }

    /// Links have their moments: most visitors come for the one that everyone talks about. Ten
    /// links get half of all clicks.
    fn event(&mut self) -> Vec<u8> {
        let turn = self.done * 20 / CLICKS;
        let hot = if turn < 10 { turn } else { 10 + (self.done * 80 / CLICKS + turn) % 40 };
        let roll = self.dice.below(100);
        let link = if roll == 0 { self.dice.index(LINKS) } else { hot };
        let visitor = self.dice.index(if link < 10 { 4_000 } else { 900 });
        let kind = self.dice.below(50);
        let agent = match kind {
            0..2 => "Googlebot/2.1 (+http://www.google.com/bot.html)".to_owned(),
            2 => "facebookexternalhit/1.1".to_owned(),
            _ => format!("Mozilla/5.0 (X11; rv:{0}.0) Gecko/20100101 Firefox/{0}.0", 100 + link),
        };
        let actual = &mut self.actual[link];
        let method = if kind == 3 {
            self.heads += 1;
            actual.heads += 1;
            "HEAD"
        } else {
            self.done += 1;
            actual.clicks += 1;
            if kind > 3 {
                actual.people.insert(visitor);
            }
            "GET"
        };
        let (code, high, low) = (code(link), visitor / 256, visitor % 256);
        format!(
            r#"{{"version":"2.0","rawPath":"/{code}","rawQueryString":"","headers":{{
            "host":"localhost","user-agent":"{agent}","referer":"https://news.example/a"}},
            "requestContext":{{"http":{{"method":"{method}","path":"/{code}",
            "sourceIp":"198.18.{high}.{low}"}}}}}}"#
        )
        .into_bytes()
    }
}

/// Delivers what is in the queue, by two pollers, with copies of what was there before; things go
/// wrong meanwhile.
async fn deliver(lab: &Lab, dice: &mut SplitMix64) -> usize {
    let mut mappings = lab.cloud.pump.mappings().iter();
    let mapping = mappings.find(|mapping| mapping.function == "CountClicks").unwrap();
    let sent = clicks::messages(lab);
    let copies = sent.len() / 20;
    for _ in 0..copies {
        let pick = dice.index(sent.len());
        let copy = NewMessage::text(&sent[pick]);
        lab.cloud.services.queues().send(&mapping.queue, &copy).unwrap();
    }
    lab.cloud.faults.resume();
    for _ in 0..2 {
        futures::join!(lab.cloud.pump.poll(mapping), lab.cloud.pump.poll(mapping));
    }
    lab.cloud.faults.pause();
    copies
}

/// What the owner is shown is what was done, and nearly by how many.
async fn check_statistics(lab: &Lab, actual: &[Actual]) {
    let links = Links::new(lab.aws().dynamodb(), lab.table("LinksTable"));
    let (mut seen, mut real, mut worst) = (0, 0, 0.0_f64);
    for (link, actual) in actual.iter().enumerate() {
        let code = Code::parse(&code(link)).unwrap();
        let statistics = links.statistics("", &code, DAY, DAY).await.unwrap();
        let (counts, visitors) = (statistics.counts(), statistics.visitors());
        let counted = counts.clicks + counts.bots + counts.previews;
        assert_eq!(counted, actual.clicks, "{code:?}, besides {} heads", actual.heads);
        let people = actual.people.len() as u64;
        let error = error_of(visitors, people);
        assert!(error <= 0.02, "{code:?} had {people} visitors, not {visitors}");
        worst = worst.max(error);
        (seen, real) = (seen + visitors, real + people);
    }
    let error = error_of(seen, real);
    println!("{seen} of {real} visitors ({error:.4}), a link's at worst {worst:.4}");
    assert!(error <= 0.02);
}

#[expect(clippy::cast_precision_loss, reason = "visitors are counted in thousands here")]
fn error_of(estimate: u64, actual: u64) -> f64 {
    estimate.abs_diff(actual) as f64 / actual.max(1) as f64
}
