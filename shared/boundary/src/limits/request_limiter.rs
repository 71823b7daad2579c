//! The limiter as one request's handler has it.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{Admission, Limiter, QuotaSubject};
use crate::http::Problem;

/// Charges one request, and remembers how it stands.
#[derive(Debug, Clone)]
pub(crate) struct RequestLimiter(Arc<Request>);

#[derive(Debug)]
struct Request {
    limiter: Arc<Limiter>,
    caller: QuotaSubject,
    resource: String,
    path: String,
    method: String,
    latest: Mutex<Option<Admission>>,
}

impl RequestLimiter {
    pub(crate) fn new(
        limiter: &Arc<Limiter>,
        caller: QuotaSubject,
        resource: String,
        path: &str,
        method: &str,
    ) -> Self {
        Self(Arc::new(Request {
            limiter: Arc::clone(limiter),
            caller,
            resource,
            path: path.to_owned(),
            method: method.to_owned(),
            latest: Mutex::default(),
        }))
    }

    pub(crate) fn limiter(&self) -> &Arc<Limiter> {
        &self.0.limiter
    }

    /// Takes `units` from every quota that applies, or nothing and answers why.
    pub(crate) async fn charge(&self, units: i64) -> Result<(), Problem> {
        let Request { limiter, caller, resource, path, method, latest } = &*self.0;
        let admission = limiter.admit(caller, resource, path, method, units).await;
        let problem = admission.problem();
        *latest.lock() = Some(admission);
        problem.map_or(Ok(()), Err)
    }

    pub(crate) fn admission(&self) -> Admission {
        let Request { limiter, caller, path, method, latest, .. } = &*self.0;
        let charged = latest.lock().take();
        charged.unwrap_or_else(|| limiter.status(caller, path, method))
    }
}
