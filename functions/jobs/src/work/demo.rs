//! The demo types: `echo`, `sleep`, `hash-file` and `fail-n-times`.

use std::time::Duration;

use domain::hex;
use domain::jobs::{Artifact, JobId, MAX_RESULT_LENGTH};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use worker::{Context, Error, Job, JobOutput};

use crate::work::job_api::StoreJobApi;

/// Less than the function's timeout of two minutes.
const MAX_SLEEP_SECONDS: u64 = 90;

pub(crate) async fn run(api: StoreJobApi, job: Job, ctx: Context) -> Result<JobOutput, Error> {
    match job.job_type.as_str() {
        "echo" => echo(&job),
        "sleep" => sleep(&job, &ctx).await,
        "hash-file" => hash_file(&api, &job, &ctx).await,
        "fail-n-times" => fail_n_times(&job),
        other => Err(Error::permanent(format!("the sample worker does not know `{other}`"))),
    }
}

/// Returns its payload, or the length of one that is too long for a result.
fn echo(job: &Job) -> Result<JobOutput, Error> {
    let payload: Value = job.payload()?;
    let bytes = payload.to_string().len();
    Ok(JobOutput::with_result(if bytes > MAX_RESULT_LENGTH {
        json!({ "bytes": bytes })
    } else {
        payload
    }))
}

#[derive(Deserialize)]
struct Sleep {
    seconds: u64,
}

/// Sleeps, reports its progress, and stops when it has to.
async fn sleep(job: &Job, ctx: &Context) -> Result<JobOutput, Error> {
    let Sleep { seconds } = job.payload()?;
    if seconds > MAX_SLEEP_SECONDS {
        return Err(Error::permanent("`seconds` must be at most 90"));
    }
    for second in 0..seconds {
        ctx.progress(u8::try_from(second * 100 / seconds).unwrap_or(100));
        tokio::select! {
            why = ctx.cancelled() => return Err(why.into()),
            () = tokio::time::sleep(Duration::from_secs(1)) => {}
        }
    }
    Ok(JobOutput::with_result(json!({ "slept": seconds })))
}

/// A text, or an artifact of another job of the same owner.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    content: Option<String>,
    job_id: Option<String>,
    artifact: Option<String>,
}

async fn hash_file(api: &StoreJobApi, job: &Job, ctx: &Context) -> Result<JobOutput, Error> {
    let file: File = job.payload()?;
    let bytes = match (file.content, file.job_id, file.artifact) {
        (Some(content), None, None) => content.into_bytes(),
        (None, Some(id), Some(name)) => artifact(api, &job.id, &id, &name).await?,
        _ => return Err(Error::permanent("send `content`, or `jobId` and `artifact`")),
    };
    let hash = hex(&Sha256::digest(&bytes));
    ctx.upload("sha256.txt", format!("{hash}\n")).await?;
    Ok(JobOutput::with_result(json!({ "sha256": hash, "bytes": bytes.len() })))
}

async fn artifact(api: &StoreJobApi, own: &str, id: &str, name: &str) -> Result<Vec<u8>, Error> {
    let unknown = || Error::permanent("there is no such artifact of yours");
    let (own, id) = JobId::parse(own).zip(JobId::parse(id)).ok_or_else(unknown)?;
    let artifact = Artifact::parse(name).map_err(|_| unknown())?;
    let [own, other] = [api.jobs.find(&own).await?, api.jobs.find(&id).await?];
    let (own, other) = own.zip(other).ok_or_else(unknown)?;
    if own.owner != other.owner || !other.artifacts.contains(&artifact) {
        return Err(unknown());
    }
    Ok(api.bucket.read(&artifact.key(&other)).await?)
}

#[derive(Deserialize)]
struct Failures {
    times: u32,
}

/// Fails the first `times` attempts, then completes.
fn fail_n_times(job: &Job) -> Result<JobOutput, Error> {
    let Failures { times } = job.payload()?;
    if job.attempt <= times {
        return Err(Error::retryable(format!("failing on purpose, {} of {times}", job.attempt)));
    }
    Ok(JobOutput::with_result(json!({ "failures": times })))
}
