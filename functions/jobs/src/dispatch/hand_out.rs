//! Handing out: the first of a type's queue, as far as there are licences.

use boundary::telemetry::Trace;
use domain::Failure;
use domain::jobs::{Bell, Delivery, JobId, TypeName};
use futures::StreamExt;
use futures::stream;

use crate::dispatch::{AT_ONCE, State};

/// Jobs handed out between two looks at the queue.
const BATCH: usize = 50;

/// Hands out what may run of a type. Workers of a type that is polled take their jobs themselves.
pub(crate) async fn hand_out(
    state: &State,
    name: &TypeName,
    also: &[JobId],
    trace: &Trace,
) -> Result<(), Failure> {
    let began = state.now();
    loop {
        let Some(kind) = state.jobs.kind(name).await? else { return Ok(()) };
        if kind.settings.delivery == Delivery::Poll {
            return Ok(());
        }
        let (now, token) = (state.now(), || state.entropy.token());
        let assigned = state.jobs.assign(&kind, None, also, BATCH, now, token).await?;
        stream::iter(&assigned.jobs)
            .for_each_concurrent(AT_ONCE, |(before, after)| state.ring(before, after, trace))
            .await;
        if !assigned.more {
            return Ok(());
        }
        if state.is_late(began) {
            state.try_ring(&Bell::Ready(name.clone(), None, 0), trace).await;
            return Ok(());
        }
    }
}
