//! The demo types: `echo`, `sleep`, `hash-file` and `fail-n-times`.

use std::time::Duration;

use domain::hex;
use domain::jobs::{Artifact, JobId};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use worker::{Context, Done, Error, Job};

use crate::work::line::{Direct, MAX_RESULT_LENGTH};

/// A function that runs for two minutes has to be done before.
const MAX_SLEEP_SECONDS: u64 = 90;

/// What a demo may use beside its context.
pub(crate) struct Tools {
    pub(crate) line: Direct,
}

pub(crate) async fn run(tools: Tools, job: Job, ctx: Context) -> Result<Done, Error> {
    match job.job_type.as_str() {
        "echo" => echo(&job),
        "sleep" => sleep(&job, &ctx).await,
        "hash-file" => hash_file(&tools.line, &job, &ctx).await,
        "fail-n-times" => fail_n_times(&job),
        other => Err(Error::give_up(format!("the sample worker does not know `{other}`"))),
    }
}

/// Answers with what it was given, or with how long that is.
fn echo(job: &Job) -> Result<Done, Error> {
    let payload: Value = job.payload()?;
    let bytes = payload.to_string().len();
    Ok(Done::with(if bytes > MAX_RESULT_LENGTH { json!({ "bytes": bytes }) } else { payload }))
}

#[derive(Deserialize)]
struct Sleep {
    seconds: u64,
}

/// Sleeps, says how far it is, and stops when it is told to.
async fn sleep(job: &Job, ctx: &Context) -> Result<Done, Error> {
    let Sleep { seconds } = job.payload()?;
    if seconds > MAX_SLEEP_SECONDS {
        return Err(Error::give_up("`seconds` must be at most 90"));
    }
    for second in 0..seconds {
        ctx.progress(u8::try_from(second * 100 / seconds).unwrap_or(100));
        tokio::select! {
            why = ctx.cancelled() => return Err(why.into()),
            () = tokio::time::sleep(Duration::from_secs(1)) => {}
        }
    }
    Ok(Done::with(json!({ "slept": seconds })))
}

/// A text, or an artifact of another job of the same owner.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    content: Option<String>,
    job_id: Option<String>,
    artifact: Option<String>,
}

async fn hash_file(line: &Direct, job: &Job, ctx: &Context) -> Result<Done, Error> {
    let file: File = job.payload()?;
    let bytes = match (file.content, file.job_id, file.artifact) {
        (Some(content), None, None) => content.into_bytes(),
        (None, Some(id), Some(name)) => artifact(line, &job.id, &id, &name).await?,
        _ => return Err(Error::give_up("send `content`, or `jobId` and `artifact`")),
    };
    let hash = hex(&Sha256::digest(&bytes));
    ctx.upload("sha256.txt", format!("{hash}\n")).await?;
    Ok(Done::with(json!({ "sha256": hash, "bytes": bytes.len() })))
}

async fn artifact(line: &Direct, own: &str, id: &str, name: &str) -> Result<Vec<u8>, Error> {
    let unknown = || Error::give_up("there is no such artifact of yours");
    let (own, id) = JobId::parse(own).zip(JobId::parse(id)).ok_or_else(unknown)?;
    let artifact = Artifact::parse(name).map_err(|_| unknown())?;
    let [own, other] = [line.jobs.find(&own).await?, line.jobs.find(&id).await?];
    let (own, other) = own.zip(other).ok_or_else(unknown)?;
    if own.owner != other.owner || !other.artifacts.contains(&artifact) {
        return Err(unknown());
    }
    Ok(line.bucket.read(&artifact.key(&other)).await?)
}

#[derive(Deserialize)]
struct Failures {
    times: u32,
}

/// Fails as often as it is told to, then completes.
fn fail_n_times(job: &Job) -> Result<Done, Error> {
    let Failures { times } = job.payload()?;
    if job.attempt <= times {
        return Err(Error::retry(format!("failing on purpose, {} of {times}", job.attempt)));
    }
    Ok(Done::with(json!({ "failures": times })))
}
