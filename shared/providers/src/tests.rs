//! Every provider against the sink, over real sockets: what it sends, and what it makes of each answer.

mod all;
mod devices;
mod hooks;
mod mails;
mod secured;
mod stage;
