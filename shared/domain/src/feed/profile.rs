//! A user's profile.

use serde::{Deserialize, Serialize};

use super::post::checked_text;
use super::{MediaId, Rejected};
use crate::Timestamp;
use crate::accounts::UserId;

const MAX_NAME_LENGTH: usize = 100;
const MAX_BIO_LENGTH: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    pub user: UserId,
    /// What they are called; their id until they say otherwise.
    pub name: String,
    pub bio: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<MediaId>,
    pub updated_at: Timestamp,
    #[serde(rename = "v")]
    pub version: u64,
}

/// A profile, as its owner writes it; what is left out is empty afterwards.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProfileDraft {
    pub name: String,
    pub bio: Option<String>,
    pub avatar: Option<String>,
}

impl Profile {
    /// The profile of a user who has not saved one.
    pub fn default_for(user: UserId, now: Timestamp) -> Self {
        let name = user.as_str().to_owned();
        Self { user, name, bio: String::new(), avatar: None, updated_at: now, version: 0 }
    }

    pub fn updated(&self, draft: &ProfileDraft, now: Timestamp) -> Result<Self, Rejected> {
        let name = checked_text("name", &draft.name, MAX_NAME_LENGTH)?;
        if name.is_empty() || name.contains(char::is_control) {
            return Err(Rejected::field("name", "1 to 100 characters on one line"));
        }
        let avatar = draft.avatar.as_deref().map(|name| MediaId::parse("avatar", name));
        Ok(Self {
            user: self.user.clone(),
            name,
            bio: checked_text("bio", draft.bio.as_deref().unwrap_or_default(), MAX_BIO_LENGTH)?,
            avatar: avatar.transpose()?,
            updated_at: now,
            version: self.version + 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::samples::{at, person};

    #[test]
    fn a_profile_is_checked_field_by_field() {
        let first = Profile::default_for(person(1), at(0));
        assert_eq!(first.name, "p1");
        let draft = |json: String| serde_json::from_str::<ProfileDraft>(&json).unwrap();
        let ada = draft(r#"{"name":" Ada ","bio":"x","avatar":"m1"}"#.to_owned());
        let next = first.updated(&ada, at(1)).unwrap();
        assert_eq!((next.name.as_str(), next.version, next.updated_at), ("Ada", 1, at(1)));
        for (json, field) in [
            (r#"{"name":""}"#.to_owned(), "name"),
            (r#"{"name":"a\nb"}"#.to_owned(), "name"),
            (format!(r#"{{"name":"{}"}}"#, "x".repeat(101)), "name"),
            (format!(r#"{{"name":"a","bio":"{}"}}"#, "x".repeat(501)), "bio"),
            (r#"{"name":"a","avatar":"a/b"}"#.to_owned(), "avatar"),
        ] {
            let refused = first.updated(&draft(json), at(1)).unwrap_err();
            assert!(refused.to_string().starts_with(field), "{refused}");
        }
    }
}
