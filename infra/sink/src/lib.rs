//! A local server for every provider's API: what is sent from a developer's machine ends here, to be read.
//!
//! Trigger: a message of a provider, over the protocols of the real ones: SMTP, and HTTP/1.1 and
//! HTTP/2 for Web Push, FCM with its token endpoint, APNs, SES, text messages by SNS, and webhooks.
//! Effect: what would have been delivered is stored, newest first, and shown on a page. Guarantee: it
//! is as strict as the real ones about who sends: signatures and tokens are verified, and what they
//! would refuse is refused. It listens on the loopback and sends nothing anywhere.
//!
//! Its behaviour can be scripted, by provider and for the next few messages only. That is decided by
//! counting messages, never by chance or by the clock, so a test that uses it repeats exactly. It
//! speaks over loopback sockets in tests too: what a time-out or a cut line means is decided by
//! sockets, and a stand-in for them would prove something about itself.

mod behaviour;
mod certificate_authority;
mod credentials;
mod feedback;
mod http;
mod jwt;
mod mail;
mod message;
mod message_log;
pub mod page;
mod sink;
mod smtp;

pub use behaviour::{Behaviour, BehaviourRule};
pub use certificate_authority::CertificateAuthority;
pub use credentials::PushSubscription;
pub use feedback::MailFeedback;
pub use message::{ProviderKind, SinkMessage};
pub use sink::{Sink, SinkOptions};
