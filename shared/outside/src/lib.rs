//! The internet outside AWS: pages fetched safely, DNS records, what is known of an address.
//!
//! Guarantee: whoever chooses a URL cannot make a function connect to anything but a public address
//! ([`domain::links::address::is_public`]), nor hold it longer or fill it further than its
//! [`Limits`] say. Absent here: clocks other than timers, the environment, logs, retries, cookies
//! and credentials. What leaves the machine leaves through a [`Network`].

mod dns;
pub mod fetch;
pub mod network;
pub mod page;
pub mod reputation;
#[cfg(test)]
mod testing;

pub use fetch::{Fetcher, Forbidden, Limits, NotFetched, Page};
pub use network::{Network, Unreachable};
pub use page::{Preview, preview};
pub use reputation::{Reputation, Verdict};
