//! Ids for every function: a generator over a lease that is taken with the first id.
//!
//! One write buys minutes of ids. Absent: a lease taken before it is needed, a second id with the
//! same number, an id from a node whose clock has left its lease.

use std::time::Duration;

use domain::Failure;
use domain::ids::{
    ClaimOutcome, Fill, Generator, Id, IdLease, LEASE_MS, Pause, Proposal, RequestId, propose,
    shard_to_try,
};
use store::IdLeases;
use tokio::sync::Mutex;

use crate::http::Problem;
use crate::{Clock, Entropy, Host, Misconfigured};

/// Shards tried before a request is refused. The first four are whole machine ids; a search
/// this long finds a free shard with near certainty until almost all 4,864 are held.
const MAX_SHARDS_TRIED: u32 = 48;

/// Waiting for milliseconds to pass adds up to at most this much in one request.
const MAX_WAIT_MS: u64 = 2_000;

#[derive(Debug)]
pub struct IdSource {
    leases: IdLeases,
    clock: Clock,
    entropy: Entropy,
    generator: Mutex<Option<Generator>>,
}

#[derive(Debug)]
pub enum IdsUnavailable {
    /// The clock is behind what was issued already, by this many milliseconds.
    ClockBack(u64),
    /// The clock shows a time that ids can't express.
    ClockOutOfEra,
    /// Every shard that was tried is leased by another node.
    NoFreeShard,
    /// The clock did not move while we waited for the next millisecond.
    ClockStuck,
    /// The store could not be asked.
    Failure(Failure),
}

impl From<Failure> for IdsUnavailable {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<IdsUnavailable> for Problem {
    fn from(reason: IdsUnavailable) -> Self {
        let (detail, seconds) = match reason {
            IdsUnavailable::Failure(failure) => return failure.into(),
            IdsUnavailable::ClockBack(by_ms) => (
                format!("This node's clock stepped back by {by_ms} ms."),
                u32::try_from(by_ms.div_ceil(1000)).unwrap_or(u32::MAX),
            ),
            IdsUnavailable::ClockOutOfEra => {
                ("This node's clock is wrong by years.".to_owned(), 60)
            }
            IdsUnavailable::NoFreeShard => ("Every machine shard is in use.".to_owned(), 5),
            IdsUnavailable::ClockStuck => ("This node's clock stands still.".to_owned(), 5),
        };
        Self::unavailable(detail, seconds)
    }
}

impl IdSource {
    /// Ids from the shards in the table that `IDS_TABLE` names.
    pub fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let table = host.vars.required(store::schema::IDS.variable)?;
        Ok(Self {
            leases: IdLeases::new(host.aws.dynamodb(), table),
            clock: host.clock.clone(),
            entropy: host.entropy.clone(),
            generator: Mutex::new(None),
        })
    }

    /// The next `count` ids, each greater than every one this source gave before.
    pub async fn take(&self, count: usize) -> Result<Vec<Id>, IdsUnavailable> {
        let mut held = self.generator.lock().await;
        let mut ids = Vec::with_capacity(count);
        let mut waited_ms = 0;
        loop {
            let now_ms = self.now_ms();
            let generator = match held.as_mut() {
                Some(generator) => generator,
                None => held.insert(Generator::new(self.lease(now_ms).await?)),
            };
            match generator.fill(now_ms, count - ids.len(), &mut ids) {
                Fill::Full => return Ok(ids),
                Fill::Paused(Pause::Exhausted) => {
                    let lease = self.renew(generator, now_ms).await?;
                    generator.set_lease(lease);
                }
                Fill::Paused(Pause::Wait { ms }) => {
                    waited_ms += ms;
                    if waited_ms > MAX_WAIT_MS {
                        return Err(IdsUnavailable::ClockStuck);
                    }
                    tokio::time::sleep(Duration::from_millis(ms)).await;
                }
                Fill::Paused(Pause::ClockBack { by_ms }) => {
                    return Err(IdsUnavailable::ClockBack(by_ms));
                }
            }
        }
    }

    /// More of the same shard if no other node took it meanwhile, or another one.
    async fn renew(&self, generator: &Generator, now_ms: u64) -> Result<IdLease, IdsUnavailable> {
        if let Some(claim) = generator.renewal(now_ms, LEASE_MS, self.request_id())
            && let ClaimOutcome::Held(lease) = self.leases.claim(claim).await?
        {
            return Ok(lease);
        }
        self.lease(now_ms).await
    }

    async fn lease(&self, now_ms: u64) -> Result<IdLease, IdsUnavailable> {
        let random = u64::from_be_bytes(self.entropy.bytes());
        for attempt in 0..MAX_SHARDS_TRIED {
            let shard = shard_to_try(random, attempt);
            match propose(shard, None, now_ms, LEASE_MS, self.request_id()) {
                Proposal::Take(claim) => {
                    if let ClaimOutcome::Held(lease) = self.leases.claim(claim).await? {
                        return Ok(lease);
                    }
                }
                Proposal::Busy { .. } => {}
                Proposal::ClockOutOfEra => return Err(IdsUnavailable::ClockOutOfEra),
            }
        }
        Err(IdsUnavailable::NoFreeShard)
    }

    fn request_id(&self) -> RequestId {
        RequestId(u128::from_be_bytes(self.entropy.bytes()))
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.clock.now().as_millisecond()).unwrap_or(0)
    }
}
