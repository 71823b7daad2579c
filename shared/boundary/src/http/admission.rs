//! What stands before every handler, in this order and in one place: the firewall (403), who is calling
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
use super::{Access, Operation, Problem};
use crate::identity::Identity;
use crate::limits::{Caller, Limiter, RequestLimiter};
use crate::telemetry::Log;

/// Where admins decide about limits themselves.
const ADMINISTRATION: &str = "/admin/";

/// Alive is alive, whatever the store says.
const HEALTH: &str = "/health";

/// Decides whether a request meets its handler.
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

    /// Who is calling is found out by `identity`.
    pub(super) fn know(&self, identity: Identity) {
        // It is set once, by what has just made this.
        let _ = self.identity.set(identity);
    }

    /// Lets the request meet the handler of `operation`, with a [`Call`] among its extensions.
    pub(super) async fn admit(
        &self,
        operation: &Operation,
        request: &mut Parts,
    ) -> Result<(), Problem> {
        let Some(mut arrival) = request.extensions.remove::<IncomingRequest>() else {
            return Err(Problem::panicked());
        };
        self.pass_firewall(&arrival, request).await?;
        arrival.seen.at(operation);
        let identified = self.identify(operation, &arrival, request).await;
        if let Ok(Some(principal)) = &identified {
            arrival.seen.by(principal);
            arrival.principal = Some(Arc::new(principal.clone()));
        }
        // Callers who can't say who they are are held to what strangers are: guessing has its quota too.
        let meter = self.meter(&arrival, request, Some(operation));
        // An admin must be able to take back a rule that refuses everyone.
        let administers = operation.path.starts_with(ADMINISTRATION)
            && arrival.principal.as_ref().is_some_and(|principal| principal.is_admin());
        if !(operation.metered || administers) || identified.is_err() {
            meter.charge(1).await?;
        }
        if let (Some(principal), Access::Role(role) | Access::Optional(role)) =
            (identified?, operation.access)
        {
            require(&principal, role)?;
        }
        if arrival.body.len() > operation.body_cap {
            return Err(Problem::too_large(operation.body_cap));
        }
        arrival.meter = Some(meter);
        request.extensions.insert(Call::of(arrival));
        Ok(())
    }

    /// Charges a request that no operation takes, and returns its path.
    pub(super) async fn charge_unclaimed(&self, request: &Parts) -> Result<String, Problem> {
        let arrival = request.extensions.get::<IncomingRequest>().ok_or_else(Problem::panicked)?;
        self.pass_firewall(arrival, request).await?;
        self.meter(arrival, request, None).charge(1).await?;
        Ok(arrival.path.clone())
    }

    /// The firewall, as it is now.
    async fn pass_firewall(
        &self,
        arrival: &IncomingRequest,
        request: &Parts,
    ) -> Result<(), Problem> {
        if arrival.path == HEALTH {
            return Ok(());
        }
        self.limiter.refresh(arrival.now).await;
        let header = |name: &str| {
            // One odd byte in a header does not hide the rest from the firewall.
            std::str::from_utf8(request.headers.get(name)?.as_bytes()).ok()
        };
        let asked = FirewallRequest {
            ip: arrival.client,
            path: &arrival.path,
            method: request.method.as_str(),
            header: &header,
        };
        match self.limiter.firewall_refusal(&asked, arrival.now) {
            Some(reason) => Err(Problem::firewalled(&reason)),
            None => Ok(()),
        }
    }

    /// Who is calling; nobody in particular where that is allowed.
    async fn identify(
        &self,
        operation: &Operation,
        arrival: &IncomingRequest,
        request: &Parts,
    ) -> Result<Option<Principal>, Problem> {
        let authorization = request.headers.get(header::AUTHORIZATION);
        let stranger = match operation.access {
            Access::Public => true,
            Access::Optional(_) => arrival.claims.is_none() && authorization.is_none(),
            Access::Key | Access::Role(_) => false,
        };
        if stranger {
            return Ok(None);
        }
        let identity = self.identity.get().ok_or_else(Problem::unauthenticated)?;
        let authorization = authorization.and_then(|value| value.to_str().ok());
        identity.authenticate(arrival, authorization, &self.log).await.map(Some)
    }

    /// What the request is charged with.
    fn meter(
        &self,
        arrival: &IncomingRequest,
        request: &Parts,
        operation: Option<&Operation>,
    ) -> RequestLimiter {
        let caller = Caller::of(arrival.principal.as_deref(), arrival.client);
        let method = request.method.as_str();
        let resource = operation.map_or("(no such path)", |operation| operation.path);
        let resource = format!("{method} {resource}");
        let meter = RequestLimiter::new(&self.limiter, caller, resource, &arrival.path, method);
        arrival.seen.metered(&meter);
        meter
    }
}

fn require(principal: &Principal, role: Role) -> Result<(), Problem> {
    if principal.is_admin() || principal.roles.contains(role) {
        return Ok(());
    }
    Err(Problem::role_missing(role))
}
