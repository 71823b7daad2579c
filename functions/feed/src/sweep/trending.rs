//! The snapshot of trending posts, stored once a minute.

use crate::store::FeedStore;
use boundary::schedule::Run;
use domain::Result;
use domain::feed::trending::TrendingSnapshot;

use crate::sweep::{PAGE, State};

/// Stores the trending posts, and takes those without a score off their lists; how many are trending.
pub(crate) async fn write_snapshot(state: &State, run: &Run) -> Result<usize> {
    let mut trending = Vec::new();
    for list in 0..FeedStore::COUNT_LISTS {
        trending.extend(state.feed.top_trending(list).await?);
    }
    let totals = trending.iter().map(|(post, people)| (*post, people));
    let snapshot = TrendingSnapshot::new(totals, run.now);
    // A run that is doubled finds the snapshot of its minute.
    state.feed.save_snapshot(&snapshot).await?;
    for list in 0..FeedStore::COUNT_LISTS {
        state.feed.remove_cold(list, run.now, PAGE).await?;
    }
    Ok(snapshot.posts.len())
}
