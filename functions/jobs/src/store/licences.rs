//! The jobs that hold a licence, and whether the rows count them right.

use domain::jobs::licence::LicenceShard;
use domain::jobs::{JobId, JobType, JobTypeName};
use domain::{Result, Timestamp};
use serde::Deserialize;
use store::{Item, given, text_of};

use super::commit::{Part, return_licence};
use super::{Jobs, rows};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LicenceHolder {
    pub job: JobId,
    /// See [`domain::jobs::Job::check_due_at`].
    pub check_due_at: Option<Timestamp>,
}

/// A licence row and its holders at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LicenceCount {
    pub licence: LicenceShard,
    pub holders: Vec<LicenceHolder>,
}

#[derive(Deserialize)]
struct LicenceRow {
    pk: String,
    in_use: u32,
    max: u32,
    v: u64,
}

impl LicenceRow {
    const fn read(&self, shard: u8) -> LicenceShard {
        LicenceShard { shard, in_use: self.in_use, max: self.max, version: self.v }
    }
}

impl Jobs {
    /// The rows of a type's licences, strongly consistent. A row that does not exist yet has the whole
    /// limit if it is the only one, and otherwise nothing until the limit is split.
    pub async fn licence_shards(&self, job_type: &JobType) -> Result<Vec<LicenceShard>> {
        let shards = job_type.shard_count();
        let keys = (0..shards).map(|shard| rows::licence(&job_type.name, shard));
        let found: Vec<LicenceRow> = self.table.get_all(keys, "read the licences").await?;
        let max = if shards == 1 { job_type.settings.max_concurrent } else { 0 };
        let licence = |shard| {
            let pk = rows::licence(&job_type.name, shard).pk;
            let unused = LicenceShard { shard, in_use: 0, max, version: 0 };
            found.iter().find(|row| row.pk == pk).map_or(unused, |row| row.read(shard))
        };
        Ok((0..shards).map(licence).collect())
    }

    /// Up to `max` holders of one row, strongly consistent.
    pub async fn holders(
        &self,
        job_type: &JobTypeName,
        shard: u8,
        max: usize,
    ) -> Result<Vec<LicenceHolder>> {
        let keys = "pk = :pk AND begins_with(sk, :holder)";
        let query = self.table.query("read the licence holders", keys);
        let query = query.with(":pk", rows::licence(job_type, shard).pk).with(":holder", "holder#");
        let mut query = query.limit(i32::try_from(max.min(1_000)).unwrap_or(1_000));
        let mut holders = Vec::new();
        while holders.len() < max
            && let Some(found) = query.next_page().await?
        {
            holders.extend(found.iter().filter_map(read_holder));
        }
        Ok(holders)
    }

    /// A row with its holders, if it did not change while they were read.
    pub async fn count_holders(
        &self,
        job_type: &JobTypeName,
        shard: u8,
    ) -> Result<Option<LicenceCount>> {
        let before = self.licence(job_type, shard).await?;
        let holders = self.holders(job_type, shard, usize::MAX).await?;
        let after = self.licence(job_type, shard).await?;
        Ok((before == after)
            .then_some(after)
            .flatten()
            .map(|licence| LicenceCount { licence, holders }))
    }

    /// Corrects a row to what was counted, if it has not changed since.
    pub async fn correct_count(&self, job_type: &JobTypeName, counted: &LicenceCount) -> Result {
        let LicenceCount { licence, holders } = counted;
        let unchanged = given("v = :seen").with(":seen", licence.version);
        let unchanged = unchanged.with(":counted", holders.len()).with(":one", 1);
        let (row, change) =
            (rows::licence(job_type, licence.shard), "SET in_use = :counted ADD v :one");
        self.table.update(row, change, unchanged, "correct a licence count").await
    }

    /// Returns a licence whose holder's job does not hold it, if that is still so.
    pub async fn reclaim_licence(
        &self,
        job_type: &JobTypeName,
        shard: u8,
        holder: &JobId,
        token: &str,
    ) -> Result {
        let idle = given("attribute_not_exists(#shard) OR #shard <> :shard").with(":shard", shard);
        let tx = self.table.tx("take a licence back").check(Part::Job, rows::job(holder), idle);
        return_licence(tx, job_type, shard, holder).commit(token).await.map(|_| ())
    }

    async fn licence(&self, job_type: &JobTypeName, shard: u8) -> Result<Option<LicenceShard>> {
        let key = rows::licence(job_type, shard);
        let found: Option<LicenceRow> = self.table.get(key, "read a licence row").await?;
        Ok(found.map(|row| row.read(shard)))
    }
}

fn read_holder(item: &Item) -> Option<LicenceHolder> {
    let job = rows::id_of(item, "sk", "holder#")?;
    let check_due_at = text_of(item, "due").and_then(|at| at.parse().ok());
    Some(LicenceHolder { job, check_due_at })
}
