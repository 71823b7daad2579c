//! Where everything sent from a developer's machine ends up, to be looked at.
//!
//! Trigger: whatever a provider sends, over the protocols of the real ones: SMTP, and HTTP/1.1 and
//! HTTP/2 for Web Push, FCM with its token endpoint, APNs, SES, text messages by SNS, and webhooks.
//! Effect: what would have been delivered is kept, newest first, and shown on a page. Guarantee: it
//! is as strict as the real ones about who sends: signatures and tokens are verified, and what they
//! would refuse is refused. It listens on the loopback and sends nothing anywhere.
//!
//! It can be told to behave badly, by provider and for the next few messages only. That is decided by
//! counting messages, never by chance or by the clock, so a test that uses it repeats exactly. It
//! speaks over loopback sockets in tests too: what a time-out or a cut line means is decided by
//! sockets, and a stand-in for them would prove something about itself.

mod authority;
mod behaviour;
mod callback;
mod credentials;
mod http;
mod jwt;
mod kept;
mod mail;
mod message;
pub mod page;
mod sink;
mod smtp;

pub use behaviour::{Behaviour, Plan};
pub use callback::Word;
pub use credentials::Subscription;
pub use message::{Message, Via};
pub use sink::{Options, Sink};
