//! Requests and messages from end to end, by what a caller sees.
mod access;
mod accounts;
mod describe;
mod edge;
mod ids;
mod keys;
mod messages;
mod redirect;
