//! Posts as readers see them: with their author, what is counted, what the reader did, and what they
//! pass on.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::store::{PostContext, StoredPost};
use domain::Result;
use domain::accounts::UserId;
use domain::feed::{
    Counts, MediaId, Post, PostId, Profile, RankExplanation, Relationship, Score, ViewContext,
    is_visible,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::state::App;

/// A post.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PostView {
    post_id: String,
    author: AuthorView,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    media: Vec<MediaView>,
    /// `PUBLIC`, `FRIENDS` or `PRIVATE`.
    privacy: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    edited_at: Option<String>,
    counts: CountsView,
    /// Whether you like it.
    user_has_liked: bool,
    /// The post that this one passes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    shares: Option<String>,
    /// The same, if it is there and you may see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<Box<Self>>,
    /// An admin hides it from everybody but its author.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
    /// Grows with each change: the `ETag` of the post.
    version: u64,
    /// How it ranks for you, 0 to about 1; in the feed only.
    #[serde(skip_serializing_if = "Option::is_none")]
    relevance_score: Option<f64>,
    /// Why it ranks there; in the feed only.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<ExplanationView>,
}

/// Who wrote it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthorView {
    user_id: String,
    name: String,
    /// A link that works for a quarter of an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    avatar_url: Option<String>,
}

/// A picture or a film.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MediaView {
    media_id: String,
    /// A link that works for a quarter of an hour.
    url: String,
}

/// How often.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CountsView {
    likes: u64,
    comments: u64,
    shares: u64,
}

/// What its score is made of.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExplanationView {
    /// What speaks most for it: `recent`, `popular` or `close`.
    reason: &'static str,
    /// What being new adds.
    recency: f64,
    /// What likes, comments and shares add.
    engagement: f64,
    /// What your own likes, comments and shares of this author's posts add.
    affinity: f64,
    /// Whether you were shown it before, so that it comes later.
    seen: bool,
}

impl From<Counts> for CountsView {
    fn from(counts: Counts) -> Self {
        Self { likes: counts.likes, comments: counts.comments, shares: counts.shares }
    }
}

impl PostView {
    /// With its place in a feed.
    pub(crate) fn ranked(mut self, score: Score, why: &RankExplanation) -> Self {
        use domain::feed::RankReason;
        let reason = match why.reason {
            RankReason::Recent => "recent",
            RankReason::Popular => "popular",
            RankReason::Close => "close",
        };
        self.relevance_score = Some(score.value());
        self.why = Some(ExplanationView {
            reason,
            recency: why.recency.value(),
            engagement: why.engagement.value(),
            affinity: why.affinity.value(),
            seen: why.seen,
        });
        self
    }
}

/// Shows posts that `reader` may see, in their order. What they pass on is shown if the reader may see it.
pub(crate) async fn post_views(
    app: &App,
    reader: &UserId,
    entries: &[StoredPost],
) -> Result<Vec<PostView>> {
    let passed_on: BTreeSet<PostId> = entries.iter().filter_map(|it| it.post.shares).collect();
    let originals = originals(app, reader, passed_on).await?;
    let all = || entries.iter().chain(originals.values());
    let people: BTreeSet<&UserId> = all().map(|it| &it.post.author).collect();
    let posts: BTreeSet<PostId> = all().map(|it| it.post.id).collect();
    let context = app.feed.post_context(reader, people, posts).await?;
    let mut views = Vec::with_capacity(entries.len());
    for entry in entries {
        let mut view = post_view(app, entry, &context).await?;
        if let Some(shared) = entry.post.shares {
            view.shares = Some(shared.text());
            if let Some(original) = originals.get(&shared) {
                view.shared = Some(Box::new(post_view(app, original, &context).await?));
            }
        }
        views.push(view);
    }
    Ok(views)
}

/// The posts of those names that the reader may see.
async fn originals(
    app: &App,
    reader: &UserId,
    ids: BTreeSet<PostId>,
) -> Result<BTreeMap<PostId, StoredPost>> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let found = app.feed.posts(ids).await?;
    let relationships = relationships_with_authors(app, reader, found.values()).await?;
    let seen = |post: &Post| {
        let relationship = relationships.get(&post.author).copied().unwrap_or_default();
        is_visible(post, &relationship, reader, ViewContext::Listed)
    };
    Ok(found.into_iter().filter(|(_, entry)| seen(&entry.post)).collect())
}

/// What is between a reader and the authors of some posts.
pub(crate) async fn relationships_with_authors(
    app: &App,
    reader: &UserId,
    entries: impl IntoIterator<Item = &StoredPost>,
) -> Result<HashMap<UserId, Relationship>> {
    let authors: BTreeSet<&UserId> = entries.into_iter().map(|it| &it.post.author).collect();
    let relation = app.feed.relationships(reader, authors).await?;
    Ok(relation.into_iter().map(|(author, relation)| (author, relation.state)).collect())
}

async fn post_view(app: &App, entry: &StoredPost, context: &PostContext) -> Result<PostView> {
    let StoredPost { post, counts, .. } = entry;
    let profile = context.profile(&post.author);
    let mut media = Vec::with_capacity(post.body.media.len());
    for id in &post.body.media {
        let url = app.media.presign_download(&media_key(&post.author, id))?;
        media.push(MediaView { media_id: id.as_str().to_owned(), url });
    }
    Ok(PostView {
        post_id: post.id.text(),
        author: author_view(app, &profile).await?,
        text: post.body.text.clone(),
        media,
        privacy: post.body.privacy.name(),
        location: post.body.location.clone(),
        tags: post.body.tags.clone(),
        created_at: post.created_at.to_string(),
        edited_at: post.edited_at.map(|at| at.to_string()),
        counts: (*counts).into(),
        user_has_liked: context.engagements.get(&post.id).is_some_and(|engaged| engaged.likes),
        shares: None,
        shared: None,
        hidden: post.hidden_at.is_some(),
        version: post.version,
        relevance_score: None,
        why: None,
    })
}

pub(crate) async fn author_view(app: &App, profile: &Profile) -> Result<AuthorView> {
    let avatar_url = match &profile.avatar {
        Some(id) => Some(app.media.presign_download(&media_key(&profile.user, id))?),
        None => None,
    };
    Ok(AuthorView {
        user_id: profile.user.as_str().to_owned(),
        name: profile.name.clone(),
        avatar_url,
    })
}

/// The S3 key of an upload.
pub(crate) fn media_key(owner: &UserId, id: &MediaId) -> String {
    format!("media/{}/{}", owner.as_str(), id.as_str())
}
