//! Counters that moved and were not added up.

use crate::store::FeedStore;
use boundary::schedule::Run;
use domain::Result;
use futures::{StreamExt, TryStreamExt, stream};

use crate::sweep::{PAGE, State, rotated_lists};

/// Posts that are added up at the same time.
const AT_ONCE: usize = 8;

/// Adds up counters whose message was lost; how many posts there were.
pub(crate) async fn aggregate(state: &State, run: &Run) -> Result<usize> {
    let mut aggregated = 0;
    for list in rotated_lists(FeedStore::COUNT_LISTS, run.now) {
        let mut after: Option<String> = None;
        while !state.is_out_of_time(run.now) {
            let (posts, next) =
                state.feed.pending_aggregations(list, after.as_deref(), PAGE).await?;
            aggregated += posts.len();
            let aggregations: Vec<_> =
                posts.into_iter().map(|post| state.feed.aggregate(post, run.now)).collect();
            let aggregations = stream::iter(aggregations).buffer_unordered(AT_ONCE);
            aggregations.try_for_each(|_| std::future::ready(Ok(()))).await?;
            after = next;
            if after.is_none() {
                break;
            }
        }
    }
    Ok(aggregated)
}
