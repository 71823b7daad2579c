//! Jobs, from being submitted to being forgotten, by what callers and workers see.

mod access;
mod dependencies;
mod explain;
mod heartbeat_timeout;
mod lifecycle;
mod limits;
mod list;
mod submit;
mod validation;
mod wake_ups;
mod workers;
