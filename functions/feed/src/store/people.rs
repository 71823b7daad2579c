//! What people show of themselves, and what they did about posts.

use std::collections::HashMap;

use domain::Failure;
use domain::accounts::UserId;
use domain::feed::{Engaged, PostId, Profile};

use super::{Feed, rows};
use store::row::{Item, Row, broken};
use store::schema::SK;
use store::transaction::{Transacted, transact};

/// Profiles of some people, and what one of them did about some posts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Company {
    /// Of those who have written one.
    pub profiles: HashMap<UserId, Profile>,
    /// What the reader did.
    pub engaged: HashMap<PostId, Engaged>,
}

impl Feed {
    /// Reads a profile, up to date.
    pub async fn profile(&self, user: &UserId) -> Result<Option<Profile>, Failure> {
        let found = self.get(rows::user_key(user, rows::PROFILE), "read the profile").await?;
        found.as_ref().map(rows::read).transpose()
    }

    /// Whether somebody has ever been here: to read, to write, or to say who they are.
    pub async fn is_known(&self, user: &UserId) -> Result<bool, Failure> {
        let keys = vec![
            rows::reader_key(user, rows::READER),
            rows::author_key(user),
            rows::user_key(user, rows::PROFILE),
        ];
        let found = self.get_all(keys, "look whether there is somebody").await?;
        // How somebody reaches people, and what they pull, is also written by others.
        let own = |item: &Item| {
            item.contains_key("seen_at") || item.contains_key("posts") || item.contains_key("name")
        };
        Ok(found.iter().any(own))
    }

    /// Writes the version after `before`; `false` if there is another by now.
    pub async fn save_profile(
        &self,
        after: &Profile,
        before: u64,
        token: &str,
    ) -> Result<bool, Failure> {
        const ACTION: &str = "save the profile";
        let mut item = rows::plain(after)?;
        item.extend(rows::user_key(&after.user, rows::PROFILE));
        let items = vec![self.next_row(item, before, ACTION)?];
        let outcome = transact(&self.client, ACTION, items, token).await?;
        Ok(matches!(outcome, Transacted::Committed))
    }

    /// Reads the profiles of some people and what a reader did about some posts, each named once, up to
    /// date: one call for up to a hundred rows.
    pub async fn company(
        &self,
        reader: &UserId,
        people: impl IntoIterator<Item = &UserId>,
        posts: impl IntoIterator<Item = PostId>,
    ) -> Result<Company, Failure> {
        let profiles = people.into_iter().map(|user| rows::user_key(user, rows::PROFILE));
        let engaged = posts.into_iter().map(|post| rows::engaged_key(reader, post));
        let keys: Vec<Item> = profiles.chain(engaged).collect();
        let mut company = Company::default();
        for item in self.get_all(keys, "read profiles and likes").await? {
            let sk = Row(&item).text(SK)?;
            if let Some(post) = sk.strip_prefix(rows::ENGAGED) {
                let post = PostId::parse(post).ok_or_else(|| broken(SK))?;
                company.engaged.insert(post, rows::read(&item)?);
            } else {
                let profile: Profile = rows::read(&item)?;
                company.profiles.insert(profile.user.clone(), profile);
            }
        }
        Ok(company)
    }
}
