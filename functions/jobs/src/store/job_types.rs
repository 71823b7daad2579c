//! Job types, and how their limits are split over licence rows.

use domain::jobs::licence::{LicenceShard, split_limit};
use domain::jobs::{
    DeliveryMode, JobType, JobTypeName, JobTypeSettings, RetryPolicy, builtin_job_type,
    builtin_job_type_names,
};
use domain::{Result, Timestamp};
use serde::{Deserialize, Serialize};
use store::{ABSENT, ALWAYS, Item, Key, Row, Tx, TxOutcome, given, plain};

use super::{Jobs, rows};

const ACTION: &str = "write the job type";
const TYPES: &str = "types";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaveOutcome {
    Saved,
    /// The type was changed or a licence taken since they were read.
    Conflict,
}

impl Jobs {
    /// A type, strongly consistent, or a built-in one.
    pub async fn job_type(&self, name: &JobTypeName) -> Result<Option<JobType>> {
        let found: Option<TypeRow> = self.table.get(key(name), "read the job type").await?;
        Ok(found.map(TypeRow::read).or_else(|| builtin_job_type(name)))
    }

    /// Sorted by name.
    pub async fn job_types(&self) -> Result<Vec<JobType>> {
        let query = self.table.query("read the job types", "pk = :types");
        let found: Vec<TypeRow> = query.with(":types", TYPES).all().await?;
        let mut job_types: Vec<JobType> = found.into_iter().map(TypeRow::read).collect();
        let known = |name: &JobTypeName| job_types.iter().any(|job_type| job_type.name == *name);
        let builtins =
            builtin_job_type_names().into_iter().filter_map(|name| JobTypeName::parse(name).ok());
        let missing: Vec<JobType> = builtins
            .filter(|name| !known(name))
            .filter_map(|name| builtin_job_type(&name))
            .collect();
        job_types.extend(missing);
        job_types.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(job_types)
    }

    /// Replaces the version before `after` by it, and splits its limit anew, given the licence rows as they
    /// were read.
    pub async fn save_job_type(
        &self,
        after: &JobType,
        read: &[LicenceShard],
        token: &str,
    ) -> Result<SaveOutcome> {
        let as_read = match after.version {
            1 => ABSENT,
            version => given("v = :before").with(":before", version - 1),
        };
        let tx = self.table.tx(ACTION).put("type", TypeRow::from_job_type(after), as_read);
        split_over_rows(tx, after, read, token).await
    }

    /// Splits the limit of a type anew, because some licences are free that no row may give.
    pub async fn rebalance_licences(
        &self,
        job_type: &JobType,
        read: &[LicenceShard],
        token: &str,
    ) -> Result<SaveOutcome> {
        let unchanged = match job_type.version {
            0 => ABSENT,
            version => given("v = :v").with(":v", version),
        };
        let tx = self.table.tx(ACTION).check("type", key(&job_type.name), unchanged);
        split_over_rows(tx, job_type, read, token).await
    }
}

async fn split_over_rows(
    mut tx: Tx<'_, &str>,
    job_type: &JobType,
    read: &[LicenceShard],
    token: &str,
) -> Result<SaveOutcome> {
    const SET_MAX: &str = "SET #max = :max, in_use = if_not_exists(in_use, :zero) ADD v :one";
    let JobTypeSettings { max_concurrent, licence_shards: shards, .. } = job_type.settings;
    let in_use: Vec<u32> = read.iter().map(|row| row.in_use).collect();
    for (row, max) in read.iter().zip(split_limit(max_concurrent, shards, &in_use)) {
        // Of several rows none may have more holders than were read; fewer do no harm.
        let no_more_holders = match read.len() {
            ..=1 => ALWAYS,
            _ => given("attribute_not_exists(in_use) OR in_use <= :seen").with(":seen", row.in_use),
        };
        let no_more_holders = no_more_holders.with(":max", max).with(":zero", 0).with(":one", 1);
        tx = tx.update(
            "licence",
            rows::licence(&job_type.name, row.shard),
            SET_MAX,
            no_more_holders,
        );
    }
    Ok(match tx.commit(token).await? {
        TxOutcome::Committed => SaveOutcome::Saved,
        TxOutcome::ConditionFailed(_) => SaveOutcome::Conflict,
    })
}

fn key(name: &JobTypeName) -> Key {
    Key::new(TYPES, name.as_str())
}

/// A type as a row.
#[derive(Serialize, Deserialize)]
struct TypeRow {
    /// Its sort key.
    sk: JobTypeName,
    max_concurrent: u32,
    shards: u8,
    max_attempts: u32,
    backoff_seconds: u32,
    timeout_seconds: u32,
    delivery: DeliveryMode,
    aging_seconds: u32,
    widest: u8,
    /// In milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated_at: Option<i64>,
    v: u64,
}

impl TypeRow {
    fn from_job_type(job_type: &JobType) -> Self {
        let JobTypeSettings {
            max_concurrent,
            licence_shards: shards,
            retry,
            timeout_seconds,
            delivery,
            aging_seconds,
        } = job_type.settings;
        let RetryPolicy { max_attempts, backoff_seconds } = retry;
        Self {
            sk: job_type.name.clone(),
            max_concurrent,
            shards,
            max_attempts,
            backoff_seconds,
            timeout_seconds,
            delivery,
            aging_seconds,
            widest: job_type.peak_shards,
            updated_at: job_type.updated_at.map(Timestamp::as_millisecond),
            v: job_type.version,
        }
    }

    fn read(self) -> JobType {
        let Self { max_attempts, backoff_seconds, .. } = self;
        let settings = JobTypeSettings {
            max_concurrent: self.max_concurrent,
            licence_shards: self.shards,
            retry: RetryPolicy { max_attempts, backoff_seconds },
            timeout_seconds: self.timeout_seconds,
            delivery: self.delivery,
            aging_seconds: self.aging_seconds,
        };
        JobType {
            name: self.sk,
            settings,
            updated_at: self.updated_at.and_then(|ms| Timestamp::from_millisecond(ms).ok()),
            peak_shards: self.widest,
            version: self.v,
        }
    }
}

impl Row for TypeRow {
    fn key(&self) -> Key {
        key(&self.sk)
    }

    fn attributes(&self) -> Result<Item> {
        plain(self)
    }
}
