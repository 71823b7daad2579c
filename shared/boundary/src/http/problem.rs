//! What went wrong, as RFC 9457 problem+json: the only place that turns a refusal into a status.

use axum::body::Body as Bytes;
use axum::response::{IntoResponse, Response};
use domain::accounts::{Rejected, Role};
use domain::{Failure, feed, limits, notifications};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

/// A problem type (RFC 9457): its stable name, status and title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProblemType {
    /// The last part of `type`, which resolves to a paragraph of `/docs`.
    pub slug: &'static str,
    /// The status it is answered with.
    pub status: StatusCode,
    /// A summary that does not vary.
    pub title: &'static str,
    /// What a caller can do about it.
    pub advice: &'static str,
}

macro_rules! problem_types {
    ($($name:ident $status:ident $slug:literal $title:literal $advice:literal)*) => {
        $(static $name: ProblemType = ProblemType {
            slug: $slug, status: StatusCode::$status, title: $title, advice: $advice,
        };)*
        /// Every type there is; the documentation lists them.
        pub static PROBLEM_TYPES: &[&ProblemType] = &[$(&$name),*];
    };
}

problem_types! {
    MALFORMED BAD_REQUEST "malformed-request" "The request can't be read"
        "Send valid JSON in UTF-8; the detail says where reading stopped."
    UNAUTHENTICATED UNAUTHORIZED "unauthenticated" "Who is calling?"
        "Send `Authorization: Bearer <keyId.secret>` with a key that is neither expired nor revoked."
    FORBIDDEN FORBIDDEN "forbidden" "You may not do that"
        "Use a key with the role that the detail names."
    NOT_FOUND NOT_FOUND "not-found" "There is no such thing"
        "Check the path and the id; what is not yours is not found either."
    METHOD_NOT_ALLOWED METHOD_NOT_ALLOWED "wrong-method" "This path does not take that method"
        "Use one of the methods in the `Allow` header."
    GONE GONE "gone" "It was here, and is not any more"
        "Ask the person who gave you the link for a new one."
    BLOCKED UNAVAILABLE_FOR_LEGAL_REASONS "blocked" "This was taken down"
        "The detail says why; its owner can ask for another look."
    CONFLICT CONFLICT "conflict" "That contradicts what is there"
        "Read the current state and decide again."
    IN_PROGRESS CONFLICT "in-progress" "The same request is still being worked on"
        "Repeat it after `Retry-After` seconds to get its answer."
    VERSION_MISMATCH PRECONDITION_FAILED "version-moved" "It has changed since you read it"
        "Read it again and repeat the change with the new `ETag` in `If-Match`."
    VERSION_REQUIRED PRECONDITION_REQUIRED "version-required" "Say which version you change"
        "Send the `ETag` you read in `If-Match`."
    TOO_LARGE PAYLOAD_TOO_LARGE "too-large" "The body is too large"
        "Send less at once; the detail says how much is accepted."
    INVALID UNPROCESSABLE_ENTITY "invalid" "A field breaks a rule"
        "Each entry of `errors` names a field and what it must be."
    KEY_REUSED UNPROCESSABLE_ENTITY "idempotency-key-reused" "That key was used with another body"
        "Use a new `Idempotency-Key` for a new request."
    QUOTA_EXCEEDED TOO_MANY_REQUESTS "quota-exceeded" "A quota is used up"
        "Wait `Retry-After` seconds; `RateLimit` says how each quota stands. A key may have larger ones."
    FIREWALLED FORBIDDEN "firewall" "Requests like this one are refused"
        "The detail says why. If that is a mistake, tell the operators of this service."
    FAULT INTERNAL_SERVER_ERROR "fault" "Something broke on our side"
        "Repeat the request; tell us the trace id in `traceparent` if it stays."
    UNAVAILABLE SERVICE_UNAVAILABLE "unavailable" "Not able to answer right now"
        "Repeat the request after `Retry-After` seconds."
}

/// The members of RFC 9457, in its order, and the field or the policy at fault.
#[derive(Serialize)]
struct Body<'a> {
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    detail: &'a str,
    instance: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<[FieldError<'a>; 1]>,
    #[serde(rename = "violated-policies", skip_serializing_if = "Option::is_none")]
    violated: Option<[&'a str; 1]>,
}

#[derive(Serialize)]
struct FieldError<'a> {
    field: &'a str,
    detail: &'a str,
}

/// What a handler or a part of one comes to.
pub type Result<T = (), E = Problem> = std::result::Result<T, E>;

/// One problem, ready to be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    definition: &'static ProblemType,
    detail: String,
    cause: Cause,
    headers: Vec<(HeaderName, String)>,
    /// What belongs into the log and nowhere else: the chain of a failure.
    fault: Option<String>,
}

/// What a caller can put right.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cause {
    /// Nothing beside the detail.
    InDetail,
    Field(String),
    /// This policy was violated.
    Policy(String),
}

impl Problem {
    fn new(definition: &'static ProblemType, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { definition, detail, cause: Cause::InDetail, headers: Vec::new(), fault: None }
    }

    fn with(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The body can't be read at all.
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::new(&MALFORMED, detail)
    }

    /// `field` must be something else.
    pub fn field(field: impl Into<String>, rule: impl std::fmt::Display) -> Self {
        let field = field.into();
        let detail = format!("`{field}` must be {rule}.");
        Self { cause: Cause::Field(field), ..Self::new(&INVALID, detail) }
    }

    /// `field` is not one the operation knows, or is missing; `detail` says which.
    pub fn invalid_field(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { cause: Cause::Field(field.into()), ..Self::new(&INVALID, detail) }
    }

    /// No key, or none that proves anything.
    pub fn unauthenticated() -> Self {
        Self::new(&UNAUTHENTICATED, "This needs a valid API key: `Authorization: Bearer <key>`.")
            .with(header::WWW_AUTHENTICATE, "Bearer")
    }

    /// A known caller without the role.
    pub fn role_missing(role: Role) -> Self {
        Self::new(&FORBIDDEN, format!("This needs the role `{}`.", role.name()))
    }

    /// A known caller who may not do that.
    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(&FORBIDDEN, detail)
    }

    /// A path that no operation takes.
    pub fn unknown_path(path: &str) -> Self {
        Self::new(&NOT_FOUND, format!("Nothing answers at {path}; see /docs for what does."))
    }

    /// A path of a system that is switched off; the parameter that switches it has its name.
    pub fn not_deployed(system: &str) -> Self {
        let deploy = format!("Deploy it with the parameter {system}=on.");
        Self::new(&NOT_FOUND, format!("{system} is not deployed here. {deploy}"))
    }

    /// An object that does not exist, or not for this caller.
    pub fn unknown(what: &str) -> Self {
        Self::new(&NOT_FOUND, format!("There is no such {what}."))
    }

    /// An object that was there and is not any more.
    pub fn gone(what: &str) -> Self {
        Self::new(&GONE, format!("This {what} has expired or was used up."))
    }

    /// An object that was taken down.
    pub fn blocked(what: &str, reason: &str) -> Self {
        let reason = if reason.is_empty() { "it broke the rules" } else { reason };
        Self::new(&BLOCKED, format!("This {what} was taken down: {reason}."))
    }

    /// A method this path does not take.
    pub fn method_not_allowed(mut methods: Vec<&str>) -> Self {
        if methods.contains(&"GET") {
            methods.push("HEAD");
        }
        methods.sort_unstable();
        let allow = methods.join(", ");
        Self::new(&METHOD_NOT_ALLOWED, format!("This path takes {allow}."))
            .with(header::ALLOW, allow)
    }

    /// A body over `cap` bytes.
    pub fn too_large(cap: usize) -> Self {
        Self::new(&TOO_LARGE, format!("At most {cap} bytes are accepted here."))
    }

    /// Something is there already, or conflicts.
    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::new(&CONFLICT, detail)
    }

    /// A quota is used up; without a time to wait it never has so many.
    pub fn quota_exceeded(detail: String, retry_after: Option<i64>, policy: &str) -> Self {
        let cause = Cause::Policy(policy.to_owned());
        let problem = Self { cause, ..Self::new(&QUOTA_EXCEEDED, detail) };
        match retry_after {
            Some(seconds) => problem.with(header::RETRY_AFTER, seconds.max(1).to_string()),
            None => problem,
        }
    }

    /// The firewall refuses the request.
    pub fn firewalled(reason: &str) -> Self {
        let reason = if reason.is_empty() { "An admin has blocked it." } else { reason };
        Self::new(&FIREWALLED, reason)
    }

    /// The same request is being worked on.
    pub fn in_progress(retry_after_seconds: i64) -> Self {
        Self::new(&IN_PROGRESS, "A request with this Idempotency-Key is still running.")
            .with(header::RETRY_AFTER, retry_after_seconds.max(1).to_string())
    }

    /// An idempotency key came with another body.
    pub fn key_reused() -> Self {
        Self::new(&KEY_REUSED, "This Idempotency-Key was used with another body.")
    }

    /// `If-Match` is missing.
    pub fn version_required() -> Self {
        Self::new(&VERSION_REQUIRED, "Send the ETag you read in `If-Match`.")
    }

    /// `If-Match` names an older version.
    pub fn version_mismatch() -> Self {
        Self::new(&VERSION_MISMATCH, "It has changed since you read it.")
    }

    /// Worth trying again soon.
    pub fn unavailable(detail: impl Into<String>, retry_after_seconds: u32) -> Self {
        Self::new(&UNAVAILABLE, detail)
            .with(header::RETRY_AFTER, retry_after_seconds.max(1).to_string())
    }

    /// The status it is answered with.
    pub fn status(&self) -> u16 {
        self.definition.status.as_u16()
    }

    /// A handler that panicked: machinery broke.
    pub(crate) fn panicked() -> Self {
        Failure::new("answer the request", "the handler panicked").into()
    }

    /// Whether machinery broke, instead of the caller being refused.
    pub fn is_fault(&self) -> bool {
        self.fault.is_some()
    }

    pub fn is_conflict(&self) -> bool {
        self.definition == &CONFLICT
    }

    /// For a failure the text that belongs into the log and nowhere else.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// The body that a request to `instance` is answered with.
    pub fn to_json(&self, instance: &str) -> serde_json::Value {
        serde_json::to_value(self.body(instance)).unwrap_or_default()
    }

    /// The answer for a request to `instance`.
    pub(crate) fn render(self, instance: &str) -> http::Response<String> {
        let text = serde_json::to_string(&self.body(instance)).unwrap_or_default();
        let mut response = http::Response::new(text);
        *response.status_mut() = self.definition.status;
        let media = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, media);
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::try_from(value) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }

    fn body<'a>(&'a self, instance: &'a str) -> Body<'a> {
        let (errors, violated) = match &self.cause {
            Cause::InDetail => (None, None),
            Cause::Field(field) => (Some([FieldError { field, detail: &self.detail }]), None),
            Cause::Policy(policy) => (None, Some([policy.as_str()])),
        };
        Body {
            kind: format!("/docs#{}", self.definition.slug),
            title: self.definition.title,
            status: self.definition.status.as_u16(),
            detail: &self.detail,
            instance,
            errors,
            violated,
        }
    }
}

/// The status, and the problem among the extensions: it is rendered where the path is known, once the handler
/// and everything around it have answered.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Bytes::empty());
        *response.status_mut() = self.definition.status;
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let detail = "Nothing you sent was wrong; the cause is in our log.";
        Self { fault: Some(failure.chain()), ..Self::new(&FAULT, detail) }
    }
}

impl From<domain::Rejected> for Problem {
    fn from(rejected: domain::Rejected) -> Self {
        use domain::Rejected;
        match rejected {
            Rejected::Invalid { field, rule } => Self::field(field, rule),
            Rejected::InvalidField { field, detail } => Self::invalid_field(field, detail),
            Rejected::Unknown(what) => Self::unknown(&what),
            Rejected::Conflict(detail) => Self::conflict(detail),
            Rejected::Forbidden(detail) => Self::forbidden(detail),
            Rejected::VersionMismatch => Self::version_mismatch(),
        }
    }
}

impl From<Rejected> for Problem {
    fn from(rejected: Rejected) -> Self {
        match rejected {
            Rejected::Field { field, rule } => Self::field(field, rule),
            Rejected::UserIdTaken => Self::conflict("This user id belongs to another account."),
            Rejected::UnknownAccount => Self::unknown("account"),
            Rejected::UnknownKey => Self::unknown("key on this account"),
            Rejected::Moved => Self::version_mismatch(),
            Rejected::AccountDisabled => Self::conflict("The account is disabled."),
            Rejected::LastAdmin => {
                Self::conflict("This is the last admin; give the role to another account first.")
            }
            Rejected::NeedsAdmin(what) => {
                Self::forbidden(format!("Only an admin may {what}; this needs the role `admin`."))
            }
        }
    }
}

impl From<limits::Rejected> for Problem {
    fn from(rejected: limits::Rejected) -> Self {
        use limits::Rejected;
        match rejected {
            Rejected::Field { field, rule } => Self::field(field, rule),
            Rejected::UnknownRule => Self::unknown("rule"),
            Rejected::UnknownOverride => Self::unknown("override"),
            Rejected::UnknownFirewallRule => Self::unknown("firewall rule"),
            Rejected::Moved => Self::version_mismatch(),
        }
    }
}

impl From<notifications::Rejected> for Problem {
    fn from(rejected: notifications::Rejected) -> Self {
        use notifications::Rejected;
        match rejected {
            Rejected::Field { field, rule } => Self::field(field, rule),
            Rejected::UnknownNotification => Self::unknown("notification"),
            Rejected::UnknownTemplate(name) => Self::unknown(&format!("template: `{name}`")),
            Rejected::Template { field, problem } => {
                let detail = format!("`{field}`: {problem}.");
                Self::invalid_field(field, detail)
            }
            Rejected::Moved => Self::version_mismatch(),
            Rejected::Refused(refusal) => Self::conflict(sentence(&refusal.to_string())),
        }
    }
}

impl From<feed::Rejected> for Problem {
    fn from(rejected: feed::Rejected) -> Self {
        use feed::Rejected;
        match rejected {
            Rejected::Field { field, rule } => Self::field(field, rule),
            Rejected::UnknownPost => Self::unknown("post"),
            Rejected::UnknownComment => Self::unknown("comment"),
            Rejected::UnknownUser => Self::unknown("user"),
            Rejected::Moved => Self::version_mismatch(),
            conflict @ (Rejected::Blocked | Rejected::NotShareable) => {
                Self::conflict(sentence(&conflict.to_string()))
            }
        }
    }
}

/// A reason as a sentence of its own.
pub fn sentence(reason: &str) -> String {
    let mut letters = reason.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

#[cfg(test)]
mod tests;
