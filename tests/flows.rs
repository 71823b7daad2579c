//! Requests and messages from end to end, by what a caller sees.
mod access;
mod accounts;
mod describe;
mod edge;
mod feed;
mod ids;
mod keys;
mod limits;
mod links;
mod links_clicks;
mod links_once;
mod messages;
mod notifications;
mod redirect;
