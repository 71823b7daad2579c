//! Callers that no rule applies to. Absent: a path; only `/health` is exempt by path.

use std::collections::HashSet;
use std::net::IpAddr;

use crate::limits::caller::{CallerRef, ip_network, parse_network};
use crate::limits::rule::Dimension;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exemptions {
    users: HashSet<String>,
    api_keys: HashSet<String>,
    networks: HashSet<IpAddr>,
    tenants: HashSet<String>,
}

impl Exemptions {
    /// Whether no rule applies to that caller.
    pub fn contains(&self, caller: &CallerRef<'_>) -> bool {
        let listed = |list: &HashSet<String>, who: Option<&str>| {
            !list.is_empty() && who.is_some_and(|who| list.contains(who))
        };
        listed(&self.users, caller.user)
            || listed(&self.api_keys, caller.api_key)
            || listed(&self.tenants, caller.tenant)
            || (!self.networks.is_empty()
                && caller.ip.is_some_and(|ip| self.networks.contains(&ip_network(ip))))
    }
}

/// Of entities, addresses in any notation. There is no exemption of `global`, which every caller is
/// part of: it and what is no address are passed over.
impl FromIterator<(Dimension, String)> for Exemptions {
    fn from_iter<I: IntoIterator<Item = (Dimension, String)>>(entities: I) -> Self {
        let mut exempt = Self::default();
        for (dimension, entity) in entities {
            match dimension {
                Dimension::User => exempt.users.extend([entity]),
                Dimension::ApiKey => exempt.api_keys.extend([entity]),
                Dimension::Ip => exempt.networks.extend(parse_network(&entity)),
                Dimension::Tenant => exempt.tenants.extend([entity]),
                Dimension::Global => {}
            }
        }
        exempt
    }
}
