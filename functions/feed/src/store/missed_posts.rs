//! What a reader who resumes has missed.

use std::collections::{BTreeSet, HashSet};

use domain::accounts::UserId;
use domain::feed::{
    FeedSettings, Post, PostId, ReaderVisit, Relationship, ServerMessage, belongs_in_feed,
    missed_posts,
};
use domain::{Result, Timestamp};
use futures::future::try_join;

use super::FeedStore;

impl FeedStore {
    /// What a reader missed since a position, up to date and without what they may not see. A reader without a
    /// complete timeline is to read anew.
    pub async fn missed(
        &self,
        reader: &UserId,
        position: Timestamp,
        settings: &FeedSettings,
        now: Timestamp,
    ) -> Result<ServerMessage> {
        let state = self.reader_state(reader, now).await?.reader;
        let away = matches!(state.visit(now, settings), ReaderVisit::Returned(_));
        if away || state.floor == PostId::MAX {
            return Ok(ServerMessage::Reload { v: 1, position: position.max(now) });
        }
        // A timeline is trimmed when it is longer; what would have to be named below that is far
        // down in the feed.
        let most = settings.timeline_size + settings.timeline_size / 10;
        let (timeline, authors) = try_join(
            self.timeline(reader, PostId::MAX, most),
            self.authors(state.pull_marks.keys()),
        )
        .await?;
        let pushed = timeline.into_iter().map(|(reference, at)| (reference.post_id, at));
        let pulled = authors.values().map(|author| &author.recents);
        match missed_posts(position, pushed, pulled, now) {
            ServerMessage::NewPosts { v, mut post_ids, position } => {
                let shown = self.shown_to(reader, &post_ids).await?;
                post_ids.retain(|post| shown.contains(post));
                Ok(ServerMessage::NewPosts { v, post_ids, position })
            }
            other @ (ServerMessage::Reload { .. }
            | ServerMessage::Pong { .. }
            | ServerMessage::Problem { .. }) => Ok(other),
        }
    }

    /// Those of some readers whose feed a post belongs into, by what is between them and its author now.
    pub async fn readers_of<'r>(
        &self,
        post: &Post,
        readers: impl IntoIterator<Item = &'r UserId>,
    ) -> Result<HashSet<UserId>> {
        let relationships = self.relationships(&post.author, readers).await?;
        let relationships =
            relationships.into_iter().map(|(reader, relation)| (reader, relation.state.reversed()));
        Ok(relationships
            .filter(|(who, relationship)| belongs_in_feed(post, relationship, who))
            .map(|(who, _)| who)
            .collect())
    }

    async fn shown_to(&self, reader: &UserId, ids: &[PostId]) -> Result<HashSet<PostId>> {
        let posts = self.posts(ids.iter().copied()).await?;
        let authors: BTreeSet<&UserId> = posts.values().map(|entry| &entry.post.author).collect();
        let relationships = self.relationships(reader, authors).await?;
        let shown = |post: &Post| {
            let relationship = relationships
                .get(&post.author)
                .map_or_else(Relationship::default, |relation| relation.state);
            belongs_in_feed(post, &relationship, reader)
        };
        Ok(posts.values().filter(|it| shown(&it.post)).map(|it| it.post.id).collect())
    }
}
