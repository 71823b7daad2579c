//! Job types, and how their licences are shared out.

use domain::jobs::licence::{Licence, allot};
use domain::jobs::{Delivery, JobType, RetryPolicy, Settings, TypeName, builtin, builtins};
use domain::{Failure, Timestamp};
use serde::{Deserialize, Serialize};
use store::{ABSENT, ALWAYS, Ended, Item, Key, Row, Tx, given, plain};

use super::{Jobs, rows};

const ACTION: &str = "write the job type";
const TYPES: &str = "types";

/// What came of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    /// It is written.
    Saved,
    /// Someone else changed the type, or took a licence: look again.
    Moved,
}

impl Jobs {
    /// What was decided about a type, up to date, or what comes with the product.
    pub async fn kind(&self, name: &TypeName) -> Result<Option<JobType>, Failure> {
        let found: Option<TypeRow> = self.table.get(key(name), "read the job type").await?;
        Ok(found.map(TypeRow::read).or_else(|| builtin(name)))
    }

    /// Every type, by name.
    pub async fn kinds(&self) -> Result<Vec<JobType>, Failure> {
        let query = self.table.query("read the job types", "pk = :types");
        let found: Vec<TypeRow> = query.with(":types", TYPES).all().await?;
        let mut kinds: Vec<JobType> = found.into_iter().map(TypeRow::read).collect();
        let known = |name: &TypeName| kinds.iter().any(|kind| kind.name == *name);
        let ours = builtins().into_iter().filter_map(|name| TypeName::parse(name).ok());
        let missing: Vec<JobType> =
            ours.filter(|name| !known(name)).filter_map(|name| builtin(&name)).collect();
        kinds.extend(missing);
        kinds.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(kinds)
    }

    /// Replaces the version before `after` by it, and shares its licences out anew, given the rows as
    /// they were read.
    pub async fn save_kind(
        &self,
        after: &JobType,
        seen: &[Licence],
        token: &str,
    ) -> Result<Saved, Failure> {
        let as_read = match after.version {
            1 => ABSENT,
            version => given("v = :before").with(":before", version - 1),
        };
        let tx = self.table.tx(ACTION).put("type", TypeRow::of(after), as_read);
        share_out(tx, after, seen, token).await
    }

    /// Shares the licences of a type out anew, because some are free that no row may give.
    pub async fn reallot(
        &self,
        kind: &JobType,
        seen: &[Licence],
        token: &str,
    ) -> Result<Saved, Failure> {
        let same = match kind.version {
            0 => ABSENT,
            version => given("v = :v").with(":v", version),
        };
        let tx = self.table.tx(ACTION).check("type", key(&kind.name), same);
        share_out(tx, kind, seen, token).await
    }
}

async fn share_out(
    mut tx: Tx<'_, &str>,
    kind: &JobType,
    seen: &[Licence],
    token: &str,
) -> Result<Saved, Failure> {
    const ALLOT: &str = "SET #max = :max, in_use = if_not_exists(in_use, :zero) ADD v :one";
    let Settings { max_concurrent, shards, .. } = kind.settings;
    let in_use: Vec<u32> = seen.iter().map(|row| row.in_use).collect();
    for (row, max) in seen.iter().zip(allot(max_concurrent, shards, &in_use)) {
        // Where there are several rows, none may have got holders since they were read; fewer do no harm.
        let unmoved = match seen.len() {
            ..=1 => ALWAYS,
            _ => given("attribute_not_exists(in_use) OR in_use <= :seen").with(":seen", row.in_use),
        };
        let unmoved = unmoved.with(":max", max).with(":zero", 0).with(":one", 1);
        tx = tx.update("licence", rows::licence(&kind.name, row.shard), ALLOT, unmoved);
    }
    Ok(match tx.commit(token).await? {
        Ended::Committed => Saved::Saved,
        Ended::Lost(_) => Saved::Moved,
    })
}

fn key(name: &TypeName) -> Key {
    Key::new(TYPES, name.as_str())
}

/// A type as a row.
#[derive(Serialize, Deserialize)]
struct TypeRow {
    /// Its sort key.
    sk: TypeName,
    max_concurrent: u32,
    shards: u8,
    max_attempts: u32,
    backoff_seconds: u32,
    timeout_seconds: u32,
    delivery: Delivery,
    aging_seconds: u32,
    widest: u8,
    /// In milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated_at: Option<i64>,
    v: u64,
}

impl TypeRow {
    fn of(kind: &JobType) -> Self {
        let Settings { max_concurrent, shards, retry, timeout_seconds, delivery, aging_seconds } =
            kind.settings;
        let RetryPolicy { max_attempts, backoff_seconds } = retry;
        Self {
            sk: kind.name.clone(),
            max_concurrent,
            shards,
            max_attempts,
            backoff_seconds,
            timeout_seconds,
            delivery,
            aging_seconds,
            widest: kind.widest,
            updated_at: kind.updated_at.map(Timestamp::as_millisecond),
            v: kind.version,
        }
    }

    fn read(self) -> JobType {
        let Self { max_attempts, backoff_seconds, .. } = self;
        let settings = Settings {
            max_concurrent: self.max_concurrent,
            shards: self.shards,
            retry: RetryPolicy { max_attempts, backoff_seconds },
            timeout_seconds: self.timeout_seconds,
            delivery: self.delivery,
            aging_seconds: self.aging_seconds,
        };
        JobType {
            name: self.sk,
            settings,
            updated_at: self.updated_at.and_then(|ms| Timestamp::from_millisecond(ms).ok()),
            widest: self.widest,
            version: self.v,
        }
    }
}

impl Row for TypeRow {
    fn key(&self) -> Key {
        key(&self.sk)
    }

    fn attributes(&self) -> Result<Item, Failure> {
        plain(self)
    }
}
