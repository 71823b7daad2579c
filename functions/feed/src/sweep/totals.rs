//! Counters that moved and were not added up.

use crate::store::Feed;
use boundary::schedule::Run;
use domain::Failure;
use futures::{StreamExt, TryStreamExt, stream};

use crate::sweep::{PAGE, State, in_turn};

/// Posts that are added up at the same time.
const AT_ONCE: usize = 8;

/// Adds up what nobody was told of; how many posts there were.
pub(crate) async fn fold(state: &State, run: &Run) -> Result<usize, Failure> {
    let mut folded = 0;
    for list in in_turn(Feed::LISTS, run.now) {
        let mut after: Option<String> = None;
        while !state.is_late(run.now) {
            let (posts, next) = state.feed.dirty(list, after.as_deref(), PAGE).await?;
            folded += posts.len();
            let folds: Vec<_> =
                posts.into_iter().map(|post| state.feed.fold(post, run.now)).collect();
            let folds = stream::iter(folds).buffer_unordered(AT_ONCE);
            folds.try_for_each(|_| std::future::ready(Ok(()))).await?;
            after = next;
            if after.is_none() {
                break;
            }
        }
    }
    Ok(folded)
}
