//! Fetches over real sockets: what is refused, what is fetched, and what is cut short.

mod attacks;
mod hostile;
mod pages;
mod posts;
mod tls;
