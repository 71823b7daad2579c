//! Profiles, and the likes, comments and shares of a user.

use std::collections::HashMap;

use domain::accounts::UserId;
use domain::feed::{Engagement, PostId, Profile};
use domain::{Result, Timestamp};

use super::{FeedStore, rows};
use store::row::{Item, ItemReader, broken};
use store::schema::SK;
use store::transaction::{Transacted, transact};

/// Profiles of some people, and what one of them did about some posts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostContext {
    pub profiles: HashMap<UserId, Profile>,
    pub engagements: HashMap<PostId, Engagement>,
}

impl PostContext {
    /// A profile, or the default of a user who has not saved one.
    pub fn profile(&self, user: &UserId) -> Profile {
        let default = || Profile::default_for(user.clone(), Timestamp::UNIX_EPOCH);
        self.profiles.get(user).cloned().unwrap_or_else(default)
    }
}

impl FeedStore {
    pub async fn profile(&self, user: &UserId) -> Result<Option<Profile>> {
        let found = self.get(rows::user_key(user, rows::PROFILE), "read the profile").await?;
        found.as_ref().map(rows::from_item).transpose()
    }

    /// Whether the user has read, posted or saved a profile.
    pub async fn user_exists(&self, user: &UserId) -> Result<bool> {
        let keys = vec![
            rows::reader_key(user, rows::READER),
            rows::author_key(user),
            rows::user_key(user, rows::PROFILE),
        ];
        let found = self.get_all(keys, "look whether the user exists").await?;
        // The rows of policies and readers are also written when others follow them.
        let own = |item: &Item| {
            item.contains_key("seen_at") || item.contains_key("posts") || item.contains_key("name")
        };
        Ok(found.iter().any(own))
    }

    /// Writes the version after `before`; `false` if there is another by now.
    pub async fn save_profile(&self, after: &Profile, before: u64, token: &str) -> Result<bool> {
        const ACTION: &str = "save the profile";
        let mut item = rows::to_item(after)?;
        item.extend(rows::user_key(&after.user, rows::PROFILE));
        let items = vec![self.put_version(item, before, ACTION)?];
        let outcome = transact(&self.client, ACTION, items, token).await?;
        Ok(matches!(outcome, Transacted::Committed))
    }

    /// Reads the profiles of some people and what a reader did about some posts, each named once, up to
    /// date: one call for up to a hundred rows.
    pub async fn post_context(
        &self,
        reader: &UserId,
        people: impl IntoIterator<Item = &UserId>,
        posts: impl IntoIterator<Item = PostId>,
    ) -> Result<PostContext> {
        let profiles = people.into_iter().map(|user| rows::user_key(user, rows::PROFILE));
        let engaged = posts.into_iter().map(|post| rows::engaged_key(reader, post));
        let keys: Vec<Item> = profiles.chain(engaged).collect();
        let mut context = PostContext::default();
        for item in self.get_all(keys, "read profiles and likes").await? {
            let sk = ItemReader(&item).text(SK)?;
            if let Some(post) = sk.strip_prefix(rows::ENGAGED) {
                let post = PostId::parse(post).ok_or_else(|| broken(SK))?;
                context.engagements.insert(post, rows::from_item(&item)?);
            } else {
                let profile: Profile = rows::from_item(&item)?;
                context.profiles.insert(profile.user.clone(), profile);
            }
        }
        Ok(context)
    }
}
