//! Posts as readers see them: with their author, what is counted, what the reader did, and what they
//! pass on.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::store::{Company, Entry};
use domain::accounts::UserId;
use domain::feed::{Counts, MediaId, Place, Post, PostId, Profile, Score, Tie, Why, visible};
use domain::{Failure, Timestamp};
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
    why: Option<WhyView>,
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
pub(crate) struct WhyView {
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
    pub(crate) fn ranked(mut self, score: Score, why: &Why) -> Self {
        use domain::feed::Reason;
        let reason = match why.reason {
            Reason::Recent => "recent",
            Reason::Popular => "popular",
            Reason::Close => "close",
        };
        self.relevance_score = Some(score.value());
        self.why = Some(WhyView {
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
pub(crate) async fn show(
    app: &App,
    reader: &UserId,
    entries: &[Entry],
) -> Result<Vec<PostView>, Failure> {
    let passed_on: BTreeSet<PostId> = entries.iter().filter_map(|it| it.post.shares).collect();
    let originals = originals(app, reader, passed_on).await?;
    let all = || entries.iter().chain(originals.values());
    let people: BTreeSet<&UserId> = all().map(|it| &it.post.author).collect();
    let posts: BTreeSet<PostId> = all().map(|it| it.post.id).collect();
    let company = app.feed.company(reader, people, posts).await?;
    let mut views = Vec::with_capacity(entries.len());
    for entry in entries {
        let mut view = one(app, entry, &company).await?;
        if let Some(shared) = entry.post.shares {
            view.shares = Some(shared.text());
            if let Some(original) = originals.get(&shared) {
                view.shared = Some(Box::new(one(app, original, &company).await?));
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
) -> Result<BTreeMap<PostId, Entry>, Failure> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let found = app.feed.posts(ids).await?;
    let ties = ties_of(app, reader, found.values()).await?;
    let seen = |post: &Post| {
        let tie = ties.get(&post.author).copied().unwrap_or_default();
        visible(post, &tie, reader, Place::Listed)
    };
    Ok(found.into_iter().filter(|(_, entry)| seen(&entry.post)).collect())
}

/// What is between a reader and the authors of some posts.
pub(crate) async fn ties_of(
    app: &App,
    reader: &UserId,
    entries: impl IntoIterator<Item = &Entry>,
) -> Result<HashMap<UserId, Tie>, Failure> {
    let authors: BTreeSet<&UserId> = entries.into_iter().map(|it| &it.post.author).collect();
    let between = app.feed.ties(reader, authors).await?;
    Ok(between.into_iter().map(|(author, between)| (author, between.tie)).collect())
}

async fn one(app: &App, entry: &Entry, company: &Company) -> Result<PostView, Failure> {
    let Entry { post, counts, .. } = entry;
    let unwritten = || Profile::unwritten(post.author.clone(), Timestamp::UNIX_EPOCH);
    let profile = company.profiles.get(&post.author).cloned().unwrap_or_else(unwritten);
    let mut media = Vec::with_capacity(post.body.media.len());
    for id in &post.body.media {
        let url = app.media.presign_download(&media_key(&post.author, id)).await?;
        media.push(MediaView { media_id: id.as_str().to_owned(), url });
    }
    Ok(PostView {
        post_id: post.id.text(),
        author: author(app, &profile).await?,
        text: post.body.text.clone(),
        media,
        privacy: post.body.privacy.name(),
        location: post.body.location.clone(),
        tags: post.body.tags.clone(),
        created_at: post.created_at.to_string(),
        edited_at: post.edited_at.map(|at| at.to_string()),
        counts: (*counts).into(),
        user_has_liked: company.engaged.get(&post.id).is_some_and(|engaged| engaged.likes),
        shares: None,
        shared: None,
        hidden: post.hidden_at.is_some(),
        version: post.version,
        relevance_score: None,
        why: None,
    })
}

/// Somebody, in a line.
pub(crate) async fn author(app: &App, profile: &Profile) -> Result<AuthorView, Failure> {
    let avatar_url = match &profile.avatar {
        Some(id) => Some(app.media.presign_download(&media_key(&profile.user, id)).await?),
        None => None,
    };
    Ok(AuthorView {
        user_id: profile.user.as_str().to_owned(),
        name: profile.name.clone(),
        avatar_url,
    })
}

/// Where somebody's upload lies.
pub(crate) fn media_key(owner: &UserId, id: &MediaId) -> String {
    format!("media/{}/{}", owner.as_str(), id.as_str())
}
