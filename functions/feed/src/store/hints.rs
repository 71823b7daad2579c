//! What somebody who was connected before has missed.

use std::collections::{BTreeSet, HashSet};

use domain::accounts::UserId;
use domain::feed::{Arrival, Hint, Post, PostId, Settings, Tie, in_feed, missed};
use domain::{Failure, Timestamp};
use futures::future::try_join;

use super::Feed;

impl Feed {
    /// What a reader missed since a position, up to date and without what is not for them. Whoever has no
    /// complete timeline is to read anew.
    pub async fn missed(
        &self,
        reader: &UserId,
        position: Timestamp,
        settings: &Settings,
        now: Timestamp,
    ) -> Result<Hint, Failure> {
        let standing = self.standing(reader, now).await?.reader;
        let away = matches!(standing.arrives(now, settings), Arrival::Returned(_));
        if away || standing.floor == PostId::MAX {
            return Ok(Hint::Reload { v: 1, position: position.max(now) });
        }
        // A timeline is trimmed when it is longer; what would have to be named below that is far
        // down in the feed.
        let most = settings.kept + settings.kept / 10;
        let (timeline, authors) =
            try_join(self.timeline(reader, PostId::MAX, most), self.authors(standing.marks.keys()))
                .await?;
        let pushed = timeline.into_iter().map(|(reference, at)| (reference.post_id, at));
        let pulled = authors.values().map(|author| &author.recents);
        match missed(position, pushed, pulled, now) {
            Hint::NewPosts { v, mut post_ids, position } => {
                let shown = self.shown_to(reader, &post_ids).await?;
                post_ids.retain(|post| shown.contains(post));
                Ok(Hint::NewPosts { v, post_ids, position })
            }
            other @ (Hint::Reload { .. } | Hint::Pong { .. } | Hint::Problem { .. }) => Ok(other),
        }
    }

    /// Those of some readers whose feed a post belongs into, by what is between them and its author now.
    pub async fn readers_of<'r>(
        &self,
        post: &Post,
        readers: impl IntoIterator<Item = &'r UserId>,
    ) -> Result<HashSet<UserId>, Failure> {
        let ties = self.ties(&post.author, readers).await?;
        let ties = ties.into_iter().map(|(reader, between)| (reader, between.tie.turned()));
        Ok(ties.filter(|(who, tie)| in_feed(post, tie, who)).map(|(who, _)| who).collect())
    }

    async fn shown_to(&self, reader: &UserId, ids: &[PostId]) -> Result<HashSet<PostId>, Failure> {
        let posts = self.posts(ids.iter().copied()).await?;
        let authors: BTreeSet<&UserId> = posts.values().map(|entry| &entry.post.author).collect();
        let ties = self.ties(reader, authors).await?;
        let shown = |post: &Post| {
            let tie = ties.get(&post.author).map_or_else(Tie::default, |between| between.tie);
            in_feed(post, &tie, reader)
        };
        Ok(posts.values().filter(|it| shown(&it.post)).map(|it| it.post.id).collect())
    }
}
