//! Ids for whoever needs some: a generator over a lease that is taken when first asked.
//!
//! One write buys minutes of ids. Absent: a lease taken before it is needed, a second id with the
//! same number, an id from a node whose clock has left its lease.

use std::time::Duration;

use domain::Failure;
use domain::ids::{
    Fill, Generator, Id, LEASE_MS, Lease, Pause, Proposal, RequestId, Settlement, lane_to_try,
    propose,
};
use store::Leases;
use tokio::sync::Mutex;

use crate::http::Problem;
use crate::{Clock, Entropy, Host, Misconfigured};

/// Lanes tried before a request is turned away. The first four are whole slots; a search this long
/// finds a free lane with near certainty until almost all 4,864 are held.
const LANES_TRIED: u32 = 48;

/// Waiting for milliseconds to pass adds up to at most this much in one request.
const PATIENCE_MS: u64 = 2_000;

/// Gives out ids, in order.
#[derive(Debug)]
pub struct IdSource {
    leases: Leases,
    clock: Clock,
    entropy: Entropy,
    generator: Mutex<Option<Generator>>,
}

/// Why there are no ids.
#[derive(Debug)]
pub enum Shortage {
    /// The clock is behind what was issued already, by this many milliseconds.
    ClockBack(u64),
    /// The clock shows a time that ids can't express.
    ClockOutOfEra,
    /// Every lane that was tried is held by someone.
    NoLane,
    /// The clock did not move while we waited for the next millisecond.
    ClockStuck,
    /// The store could not be asked.
    Failure(Failure),
}

impl From<Failure> for Shortage {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Shortage> for Problem {
    fn from(shortage: Shortage) -> Self {
        let (detail, seconds) = match shortage {
            Shortage::Failure(failure) => return failure.into(),
            Shortage::ClockBack(by_ms) => (
                format!("This node's clock stepped back by {by_ms} ms."),
                u32::try_from(by_ms.div_ceil(1000)).unwrap_or(u32::MAX),
            ),
            Shortage::ClockOutOfEra => ("This node's clock is wrong by years.".to_owned(), 60),
            Shortage::NoLane => ("Every lane of ids is in use.".to_owned(), 5),
            Shortage::ClockStuck => ("This node's clock stands still.".to_owned(), 5),
        };
        Self::unavailable(detail, seconds)
    }
}

impl IdSource {
    /// Ids from the lanes in the table that `IDS_TABLE` names.
    pub fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let table = host.vars.required(store::schema::IDS.variable)?;
        Ok(Self {
            leases: Leases::new(host.aws.dynamodb(), table),
            clock: host.clock.clone(),
            entropy: host.entropy.clone(),
            generator: Mutex::new(None),
        })
    }

    /// The next `count` ids, each greater than every one this source gave before.
    pub async fn take(&self, count: usize) -> Result<Vec<Id>, Shortage> {
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
                    generator.relet(lease);
                }
                Fill::Paused(Pause::Wait { ms }) => {
                    waited_ms += ms;
                    if waited_ms > PATIENCE_MS {
                        return Err(Shortage::ClockStuck);
                    }
                    tokio::time::sleep(Duration::from_millis(ms)).await;
                }
                Fill::Paused(Pause::ClockBack { by_ms }) => {
                    return Err(Shortage::ClockBack(by_ms));
                }
            }
        }
    }

    /// More of the same lane if nobody took it meanwhile, or another one.
    async fn renew(&self, generator: &Generator, now_ms: u64) -> Result<Lease, Shortage> {
        if let Some(claim) = generator.renewal(now_ms, LEASE_MS, self.request_id())
            && let Settlement::Held(lease) = self.leases.claim(claim).await?
        {
            return Ok(lease);
        }
        self.lease(now_ms).await
    }

    async fn lease(&self, now_ms: u64) -> Result<Lease, Shortage> {
        let random = u64::from_be_bytes(self.entropy.bytes());
        for attempt in 0..LANES_TRIED {
            let lane = lane_to_try(random, attempt);
            match propose(lane, None, now_ms, LEASE_MS, self.request_id()) {
                Proposal::Take(claim) => {
                    if let Settlement::Held(lease) = self.leases.claim(claim).await? {
                        return Ok(lease);
                    }
                }
                Proposal::Busy { .. } => {}
                Proposal::ClockOutOfEra => return Err(Shortage::ClockOutOfEra),
            }
        }
        Err(Shortage::NoLane)
    }

    fn request_id(&self) -> RequestId {
        RequestId(u128::from_be_bytes(self.entropy.bytes()))
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.clock.now().as_millisecond()).unwrap_or(0)
    }
}
