//! Each condition, won and lost, on fresh tables.
mod accounts;
mod feed;
mod idempotency;
mod leases;
mod limits;
mod links;
mod notifications;
mod table;
