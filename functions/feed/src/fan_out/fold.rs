//! A post's counters have moved: they are added up.

use domain::Failure;
use domain::feed::PostId;

use crate::fan_out::State;

/// Repeating it changes nothing; what moves meanwhile is added up by the next one, or by the sweep.
pub(crate) async fn moved(state: &State, post: PostId) -> Result<(), Failure> {
    state.feed.aggregate_changed(post, state.now()).await.map(|_| ())
}
