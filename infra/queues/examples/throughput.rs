//! Measures how many messages per second go all the way: sent, received and deleted.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use queues::{Attributes, Clock, NewMessage, Queues};

const ROUNDS: u32 = 20_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clock: Clock = Arc::new(|| 1_700_000_000_000);
    measure("memory", &Queues::memory(Arc::clone(&clock))?)?;
    if let Some(file) = std::env::args().nth(1) {
        measure("file", &Queues::open(Path::new(&file), clock)?)?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a measurement needs real time")]
#[expect(clippy::print_stdout, reason = "the number is the point")]
fn measure(name: &str, queues: &Queues) -> Result<(), queues::Error> {
    queues.create_queue("q", &Attributes::new())?;
    let message = NewMessage::text("x".repeat(256));
    let begun = Instant::now();
    for _ in 0..ROUNDS {
        queues.send("q", &message)?;
        for message in queues.receive("q", 1, None)? {
            queues.delete("q", &message.receipt_handle)?;
        }
    }
    let rate = f64::from(ROUNDS) / begun.elapsed().as_secs_f64();
    println!("{name}: {rate:.0} messages per second");
    Ok(())
}
