//! `BullMQ` on Redis, in the same run, where `redis-server`, `node` and the package are there:
//! `npm install bullmq ioredis` in `target/bench/bullmq`.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::cold::target;
use crate::table::{Table, Verdict};

const PORT: &str = "16399";

/// Adds jobs one after the other, then lets a worker do as many; prints milliseconds and a rate.
const SCRIPT: &str = r"
const { Queue, Worker } = require('bullmq');
const connection = { host: '127.0.0.1', port: PORT };
(async () => {
  const queue = new Queue('bench', { connection });
  const took = [];
  for (let i = 0; i < 2000; i++) {
    const t = performance.now();
    await queue.add('echo', { n: 1 }, { attempts: 3 });
    took.push(performance.now() - t);
  }
  took.sort((a, b) => a - b);
  const started = performance.now();
  let done = 0;
  await new Promise(resolve => {
    const worker = new Worker('bench', async job => job.data, { connection, concurrency: 50 });
    worker.on('completed', () => { if (++done === 2000) resolve(); });
  });
  const rate = 2000 / ((performance.now() - started) / 1000);
  console.log(JSON.stringify({ p50: took[1000], p99: took[1980], rate }));
  process.exit(0);
})();
";

/// Adds its rows, or why there are none.
pub(crate) fn rows(table: &mut Table) {
    match measure() {
        Some((p50, p99, rate)) => {
            let measured = format!("{p50:.1} ms · {p99:.1} ms");
            table.row("BullMQ on Redis: add, p50 · p99", measured, "", Verdict::Note);
            let measured = format!("{rate:.0} a second");
            table.row("BullMQ on Redis: echo jobs to their end", measured, "", Verdict::Note);
        }
        None => {
            table.row("BullMQ on Redis", "not there, or it failed".to_owned(), "", Verdict::Note);
        }
    }
}

fn measure() -> Option<(f64, f64, f64)> {
    let folder = target().ok()?.join("bench/bullmq");
    if !folder.join("node_modules/bullmq").exists() {
        return None;
    }
    let redis = Redis::start(&folder)?;
    std::thread::sleep(Duration::from_secs(1));
    let script = SCRIPT.replace("PORT", PORT);
    let output = Command::new("node").args(["-e", &script]).current_dir(&folder).output().ok()?;
    drop(redis);
    let said: Value = serde_json::from_slice(&output.stdout).ok()?;
    Some((said["p50"].as_f64()?, said["p99"].as_f64()?, said["rate"].as_f64()?))
}

/// A server that writes every change to its log before it answers, as ours does.
struct Redis(Child);

impl Redis {
    fn start(folder: &Path) -> Option<Self> {
        let child = Command::new("redis-server")
            .args(["--port", PORT, "--appendonly", "yes", "--appendfsync", "always", "--dir"])
            .arg(folder)
            .stdout(Stdio::null())
            .spawn();
        child.ok().map(Self)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
