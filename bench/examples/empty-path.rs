//! An empty `lambda_http` function in process, without a socket: `empty-path <count>`.
//!
//! What `lambda_http::run` does between an event's JSON and the answer's, with a handler that does
//! nothing: the least that a function on that crate can cost. Prints nanoseconds of CPU a request.
#![expect(clippy::print_stdout, reason = "a bench prints what it finds")]

use std::error::Error;

use lambda_http::lambda_runtime::{Context, LambdaEvent};
use lambda_http::request::LambdaRequest;
use lambda_http::{Adapter, Body, Request, Response, Service, service_fn};

fn main() -> Result<(), Box<dyn Error>> {
    let count: u32 = std::env::args().nth(1).ok_or("<count>")?.parse()?;
    let event = include_bytes!("../../events/links/redirect/follow.json");
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let mut function = Adapter::from(service_fn(answer));
        let started = cpu_nanoseconds()?;
        for _ in 0..count {
            let payload: LambdaRequest = serde_json::from_slice(event)?;
            let answer = function.call(LambdaEvent::new(payload, Context::default())).await;
            let answer = answer.map_err(|error| error.to_string())?;
            std::hint::black_box(serde_json::to_vec(&answer)?);
        }
        println!("{}", (cpu_nanoseconds()? - started) / u64::from(count.max(1)));
        Ok(())
    })
}

async fn answer(_: Request) -> Result<Response<Body>, lambda_http::Error> {
    Ok(Response::new(Body::Empty))
}

/// What this process's one thread has spent so far, as the kernel accounts it.
fn cpu_nanoseconds() -> Result<u64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/schedstat")?;
    Ok(text.split_whitespace().next().ok_or("no CPU time")?.parse()?)
}
