//! What runs before every handler, in this order and in one place: the firewall (403), who is calling
//! (401), whether their quotas let them (429), whether they may (403), whether the body is small enough (413).
//!
//! A path that is not there and a method that is not taken are charged as well, and so is a caller whose key is
//! wrong: guessing costs quota.

use std::sync::{Arc, OnceLock};

use domain::accounts::{Principal, Role};
use domain::limits::firewall::FirewallRequest;
use http::header;
use http::request::Parts;

use super::call::{Call, IncomingRequest};
use super::{Access, Operation, Problem, Result};
use crate::identity::Identity;
use crate::limits::{Limiter, QuotaSubject, RequestLimiter};
use crate::telemetry::Log;

/// Paths at which admins change limits.
const ADMINISTRATION: &str = "/admin/";

/// Health is not subject to the firewall, which needs the store.
const HEALTH: &str = "/health";

/// Decides whether a request reaches its handler.
#[derive(Debug)]
pub(super) struct Admission {
    /// There if any operation asks who is calling.
    identity: OnceLock<Identity>,
    limiter: Arc<Limiter>,
    log: Log,
}

impl Admission {
    pub(super) const fn new(limiter: Arc<Limiter>, log: Log) -> Self {
        Self { identity: OnceLock::new(), limiter, log }
    }

    /// Sets how callers are identified.
    pub(super) fn set_identity(&self, identity: Identity) {
        // It is set once, by what has just made this.
        let _ = self.identity.set(identity);
    }

    /// Lets the request reach the handler of `operation`, with a [`Call`] among its extensions.
    pub(super) async fn admit(&self, operation: &Operation, request: &mut Parts) -> Result {
        let Some(mut incoming) = request.extensions.remove::<IncomingRequest>() else {
            return Err(Problem::panicked());
        };
        self.pass_firewall(&incoming, request).await?;
        incoming.request_log.set_operation(operation);
        let identified = self.identify(operation, &incoming, request).await;
        if let Ok(Some(principal)) = &identified {
            incoming.request_log.set_principal(principal);
            incoming.principal = Some(Arc::new(principal.clone()));
        }
        // A caller with a wrong key has the quotas of an anonymous one: guessing keys costs quota.
        let meter = self.meter(&incoming, request, Some(operation));
        // An admin must be able to take back a rule that refuses everyone.
        let administers = operation.path.starts_with(ADMINISTRATION)
            && incoming.principal.as_ref().is_some_and(|principal| principal.is_admin());
        if !(operation.charges_itself || administers) || identified.is_err() {
            meter.charge(1).await?;
        }
        if let (Some(principal), Access::Role(role) | Access::Optional(role)) =
            (identified?, operation.access)
        {
            require_role(&principal, role)?;
        }
        if incoming.body.len() > operation.max_body {
            return Err(Problem::too_large(operation.max_body));
        }
        incoming.meter = Some(meter);
        request.extensions.insert(Call::new(incoming));
        Ok(())
    }

    /// Charges a request that no operation takes, and returns its path.
    pub(super) async fn charge_unmatched(&self, request: &Parts) -> Result<String> {
        let incoming = request.extensions.get::<IncomingRequest>().ok_or_else(Problem::panicked)?;
        self.pass_firewall(incoming, request).await?;
        self.meter(incoming, request, None).charge(1).await?;
        Ok(incoming.path.clone())
    }

    /// The firewall, as it is now.
    async fn pass_firewall(&self, incoming: &IncomingRequest, request: &Parts) -> Result {
        if incoming.path == HEALTH {
            return Ok(());
        }
        self.limiter.refresh(incoming.now).await;
        let header = |name: &str| {
            // One odd byte in a header does not hide the rest from the firewall.
            std::str::from_utf8(request.headers.get(name)?.as_bytes()).ok()
        };
        let asked = FirewallRequest {
            ip: incoming.client_ip,
            path: &incoming.path,
            method: request.method.as_str(),
            header: &header,
        };
        match self.limiter.firewall_refusal(&asked, incoming.now) {
            Some(reason) => Err(Problem::firewalled(&reason)),
            None => Ok(()),
        }
    }

    /// The caller; `None` for an anonymous one where that is allowed.
    async fn identify(
        &self,
        operation: &Operation,
        incoming: &IncomingRequest,
        request: &Parts,
    ) -> Result<Option<Principal>> {
        let authorization = request.headers.get(header::AUTHORIZATION);
        let is_anonymous = match operation.access {
            Access::Public => true,
            Access::Optional(_) => incoming.claims.is_none() && authorization.is_none(),
            Access::Key | Access::Role(_) => false,
        };
        if is_anonymous {
            return Ok(None);
        }
        let identity = self.identity.get().ok_or_else(Problem::unauthenticated)?;
        let authorization = authorization.and_then(|value| value.to_str().ok());
        identity.authenticate(incoming, authorization, &self.log).await.map(Some)
    }

    /// The quotas that the request is charged to.
    fn meter(
        &self,
        incoming: &IncomingRequest,
        request: &Parts,
        operation: Option<&Operation>,
    ) -> RequestLimiter {
        let caller = QuotaSubject::of(incoming.principal.as_deref(), incoming.client_ip);
        let method = request.method.as_str();
        let resource = operation.map_or("(no such path)", |operation| operation.path);
        let resource = format!("{method} {resource}");
        let meter = RequestLimiter::new(&self.limiter, caller, resource, &incoming.path, method);
        incoming.request_log.set_meter(&meter);
        meter
    }
}

fn require_role(principal: &Principal, role: Role) -> Result {
    if principal.is_admin() || principal.roles.contains(role) {
        return Ok(());
    }
    Err(Problem::role_missing(role))
}
