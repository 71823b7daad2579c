//! What is hot, written down once a minute.

use crate::store::Feed;
use boundary::schedule::Run;
use domain::Failure;
use domain::feed::trending::Snapshot;

use crate::sweep::{PAGE, State};

/// Writes down the hottest posts, and takes off their lists what has no heat left; how many are hot.
pub(crate) async fn write_down(state: &State, run: &Run) -> Result<usize, Failure> {
    let mut hot = Vec::new();
    for list in 0..Feed::LISTS {
        hot.extend(state.feed.hottest(list).await?);
    }
    let totals = hot.iter().map(|(post, people)| (*post, people));
    let snapshot = Snapshot::taken(totals, run.now);
    // A run that is doubled finds the snapshot of its minute.
    state.feed.keep_snapshot(&snapshot).await?;
    for list in 0..Feed::LISTS {
        state.feed.cool(list, run.now, PAGE).await?;
    }
    Ok(snapshot.posts.len())
}
