//! Who is counted.

use std::net::IpAddr;

use domain::accounts::Principal;
use domain::limits::caller::CallerRef;

/// Everything a request says about who sent it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuotaSubject {
    pub user: Option<String>,
    /// The id of the key, never its secret.
    pub api_key: Option<String>,
    pub ip: Option<IpAddr>,
    pub tenant: Option<String>,
}

impl QuotaSubject {
    /// A request's sender, whom we know or not.
    pub fn of(principal: Option<&Principal>, ip: Option<IpAddr>) -> Self {
        let Some(principal) = principal else { return Self { ip, ..Self::default() } };
        let tenant = principal.tenant.as_str();
        Self {
            user: Some(principal.user_id.as_str().to_owned()),
            api_key: principal.key_id.as_ref().map(|key| key.as_str().to_owned()),
            ip,
            tenant: (!tenant.is_empty()).then(|| tenant.to_owned()),
        }
    }

    /// The same as the rules see it.
    pub fn borrowed(&self) -> CallerRef<'_> {
        CallerRef {
            user: self.user.as_deref(),
            api_key: self.api_key.as_deref(),
            ip: self.ip,
            tenant: self.tenant.as_deref(),
        }
    }
}
