//! The internet outside AWS: pages fetched safely, things posted safely, DNS records, what is known
//! of an address.
//!
//! Guarantee: whoever chooses a URL cannot make a function connect to anything but a public address
//! ([`domain::links::public_ip::is_public`]), nor hold it longer or fill it further than its
//! [`Limits`] say. Absent here: clocks other than timers, the environment, logs, retries, cookies
//! and credentials. What leaves the machine leaves through a [`Network`].

mod dns;
pub mod fetch;
pub mod lines;
pub mod network;
pub mod page;
pub mod reputation;
#[cfg(test)]
mod testing;
pub mod tls;

pub use fetch::{Answered, Fetcher, Forbidden, Limits, NotFetched, NotPosted, Page, Post};
pub use lines::Lines;
pub use network::{Network, Unreachable};
pub use page::{Preview, preview};
pub use reputation::{Reputation, Verdict};
pub use tls::Trust;
