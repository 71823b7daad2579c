//! Every provider against the sink, over real sockets: what it sends, and what it makes of each answer.

mod every_provider;
mod harness;
mod mail_and_sms;
mod mobile_push;
mod smtp_tls;
mod webhooks;
