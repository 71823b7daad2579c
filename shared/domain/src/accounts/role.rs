//! What a caller may do, as a small set.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Admin,
    /// Own links, feed, own notifications and preferences.
    Member,
    /// Send notifications, manage templates, replay dead letters.
    Notifier,
    /// Submit, cancel and retry jobs.
    JobSubmitter,
    JobViewer,
    /// Claim and work on jobs.
    JobWorker,
    /// Ask the rate limiter on behalf of others.
    Limiter,
}

impl Role {
    /// Every role, in the order it is listed to people.
    pub const ALL: [Self; 7] = [
        Self::Admin,
        Self::Member,
        Self::Notifier,
        Self::JobSubmitter,
        Self::JobViewer,
        Self::JobWorker,
        Self::Limiter,
    ];

    /// The role's name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Member => "member",
            Self::Notifier => "notifier",
            Self::JobSubmitter => "job-submitter",
            Self::JobViewer => "job-viewer",
            Self::JobWorker => "job-worker",
            Self::Limiter => "limiter",
        }
    }

    /// The role of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// A set of roles; a byte, so that it is copied rather than shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Roles(u8);

impl Roles {
    pub const NONE: Self = Self(0);

    pub const fn contains(self, role: Role) -> bool {
        self.0 & (1 << role as u8) != 0
    }

    /// True for a set that may do everything.
    pub const fn is_admin(self) -> bool {
        self.contains(Role::Admin)
    }

    /// True when every role of `self` is in `other`.
    pub const fn is_subset(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// True when nothing is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The roles, in their listed order.
    pub fn iter(self) -> impl Iterator<Item = Role> {
        Role::ALL.into_iter().filter(move |role| self.contains(*role))
    }
}

impl FromIterator<Role> for Roles {
    fn from_iter<I: IntoIterator<Item = Role>>(roles: I) -> Self {
        Self(roles.into_iter().fold(0, |set, role| set | 1 << role as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_roles() {
        for role in Role::ALL {
            assert_eq!(Role::from_name(role.name()), Some(role));
            assert_eq!(serde_json::to_string(&role).unwrap(), format!("\"{}\"", role.name()));
        }
        assert_eq!(Role::from_name("root"), None);
    }

    proptest::proptest! {
        #[test]
        fn sets_behave_like_sets(a in 0_u8..128, b in 0_u8..128) {
            let (a, b) = (Roles(a), Roles(b));
            let both = a.intersection(b);
            proptest::prop_assert!(both.is_subset(a) && both.is_subset(b));
            proptest::prop_assert_eq!(a.iter().collect::<Roles>(), a);
            proptest::prop_assert_eq!(a.is_subset(b), both == a);
        }
    }
}
