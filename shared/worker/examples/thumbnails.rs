//! A worker that makes thumbnails, one size after the other: `thumbnails <url> <key>`.
//!
//! Trigger: jobs of the type `thumbnail`, such as `{"picture": "cat", "widths": [64, 256]}`. Effect: an
//! artifact for each width. It stops on Ctrl-C, after what it is doing.

use std::time::Duration;

use serde_json::json;
use worker::{Context, Error, Job, JobOutput, Worker};

#[derive(serde::Deserialize)]
struct Order {
    picture: String,
    widths: Vec<u32>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(key)) = (arguments.next(), arguments.next()) else {
        return Err("usage: thumbnails <url> <key>".into());
    };
    let worker = Worker::connect(&url, &key)?.job_type("thumbnail").concurrency(4);
    worker.on_event(|event| eprintln!("{event}")).run(thumbnails).await?;
    Ok(())
}

async fn thumbnails(job: Job, ctx: Context) -> Result<JobOutput, Error> {
    let order: Order = job.payload()?;
    let all = order.widths.len();
    for (made, width) in order.widths.iter().enumerate() {
        let picture = tokio::select! {
            picture = scale(&order.picture, *width) => picture?,
            why = ctx.cancelled() => return Err(why.into()),
        };
        ctx.upload(&format!("{width}.txt"), picture).await?;
        ctx.progress(u8::try_from((made + 1) * 100 / all)?);
    }
    Ok(JobOutput::with_result(json!({"made": all})))
}

/// Stands for what takes long.
async fn scale(picture: &str, width: u32) -> Result<String, Error> {
    if width == 0 {
        return Err(Error::permanent("no picture is that small"));
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    Ok(format!("{picture}, {width} wide"))
}
