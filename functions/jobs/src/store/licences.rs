//! Who holds a licence, and whether the rows count right.

use domain::jobs::licence::Licence;
use domain::jobs::{JobId, JobType, TypeName};
use domain::{Failure, Timestamp};
use serde::Deserialize;
use store::{Item, given, text_of};

use super::commit::{Part, give};
use super::{Jobs, rows};

/// One who holds a licence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub job: JobId,
    /// When it is worth looking whether its worker is silent or too slow.
    pub due_at: Option<Timestamp>,
}

/// A row and who really holds a licence of it, at one and the same moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    pub licence: Licence,
    pub holders: Vec<Holder>,
}

/// What a licence row says.
#[derive(Deserialize)]
struct LicenceRow {
    pk: String,
    in_use: u32,
    max: u32,
    v: u64,
}

impl LicenceRow {
    const fn of(&self, shard: u8) -> Licence {
        Licence { shard, in_use: self.in_use, max: self.max, version: self.v }
    }
}

impl Jobs {
    /// The rows of a type's licences, up to date. A row that is not there yet has the whole limit if it
    /// is the only one, and otherwise nothing until the licences are shared out.
    pub async fn licences(&self, kind: &JobType) -> Result<Vec<Licence>, Failure> {
        let width = kind.widest.max(kind.settings.shards);
        let keys = (0..width).map(|shard| rows::licence(&kind.name, shard));
        let found: Vec<LicenceRow> = self.table.get_all(keys, "read the licences").await?;
        let max = if width == 1 { kind.settings.max_concurrent } else { 0 };
        let licence = |shard| {
            let pk = rows::licence(&kind.name, shard).pk;
            let unused = Licence { shard, in_use: 0, max, version: 0 };
            found.iter().find(|row| row.pk == pk).map_or(unused, |row| row.of(shard))
        };
        Ok((0..width).map(licence).collect())
    }

    /// Who holds a licence of one row, up to date, up to `most`.
    pub async fn holders(
        &self,
        kind: &TypeName,
        shard: u8,
        most: usize,
    ) -> Result<Vec<Holder>, Failure> {
        let keys = "pk = :pk AND begins_with(sk, :holder)";
        let query = self.table.query("read who holds a licence", keys);
        let query = query.with(":pk", rows::licence(kind, shard).pk).with(":holder", "holder#");
        let mut query = query.limit(i32::try_from(most.min(1_000)).unwrap_or(1_000));
        let mut holders = Vec::new();
        while holders.len() < most
            && let Some(found) = query.next_page().await?
        {
            holders.extend(found.iter().filter_map(read_holder));
        }
        Ok(holders)
    }

    /// A row with its holders, if nobody came or went while they were read.
    pub async fn recount(&self, kind: &TypeName, shard: u8) -> Result<Option<Counted>, Failure> {
        let before = self.licence(kind, shard).await?;
        let holders = self.holders(kind, shard, usize::MAX).await?;
        let after = self.licence(kind, shard).await?;
        Ok((before == after).then_some(after).flatten().map(|licence| Counted { licence, holders }))
    }

    /// Makes a row count what was counted, if nobody came or went since.
    pub async fn correct(&self, kind: &TypeName, counted: &Counted) -> Result<(), Failure> {
        let Counted { licence, holders } = counted;
        let unmoved = given("v = :seen").with(":seen", licence.version);
        let unmoved = unmoved.with(":counted", holders.len()).with(":one", 1);
        let (row, change) =
            (rows::licence(kind, licence.shard), "SET in_use = :counted ADD v :one");
        self.table.update(row, change, unmoved, "correct a licence count").await
    }

    /// Takes a licence from a holder whose job does not hold one, if that is still so.
    pub async fn evict(
        &self,
        kind: &TypeName,
        shard: u8,
        holder: &JobId,
        token: &str,
    ) -> Result<(), Failure> {
        let idle = given("attribute_not_exists(#shard) OR #shard <> :shard").with(":shard", shard);
        let tx = self.table.tx("take a licence back").check(Part::Job, rows::job(holder), idle);
        give(tx, kind, shard, holder).commit(token).await.map(|_| ())
    }

    async fn licence(&self, kind: &TypeName, shard: u8) -> Result<Option<Licence>, Failure> {
        let key = rows::licence(kind, shard);
        let found: Option<LicenceRow> = self.table.get(key, "read a licence row").await?;
        Ok(found.map(|row| row.of(shard)))
    }
}

fn read_holder(item: &Item) -> Option<Holder> {
    let job = rows::id_of(item, "sk", "holder#")?;
    let due_at = text_of(item, "due").and_then(|at| at.parse().ok());
    Some(Holder { job, due_at })
}
