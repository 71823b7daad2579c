//! Jobs, from being submitted to being forgotten, by what callers and workers see.

mod access;
mod dag;
mod explain;
mod input;
mod life;
mod limits;
mod listing;
mod silence;
mod submit;
mod wake_ups;
mod workers;
