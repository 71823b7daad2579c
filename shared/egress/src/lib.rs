//! The internet outside AWS: pages fetched and requests posted safely, DNS records, and the reputation
//! of an address.
//!
//! Guarantee: a URL that a user chose cannot make a function connect to anything but a public address
//! ([`domain::links::public_ip::is_public`]), nor hold it longer or fill it further than its
//! [`FetchLimits`] say. Absent here: clocks other than timers, the environment, logs, retries, cookies
//! and credentials. What leaves the machine leaves through a [`Network`].

mod dns;
pub mod fetch;
pub mod http2;
mod idle;
pub mod network;
pub mod preview;
pub mod reputation;
#[cfg(test)]
mod testing;
pub mod tls;

pub use fetch::{
    FetchError, FetchLimits, FetchedPage, Fetcher, ForbiddenUrl, PostError, PostRequest,
    PostResponse,
};
pub use http2::Http2Client;
pub use idle::IdleConnections;
pub use network::{Network, NetworkError};
pub use preview::PagePreview;
pub use reputation::{Reputation, ReputationVerdict};
pub use tls::TlsClient;
