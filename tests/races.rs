//! Many callers, one winner.

mod jobs;
