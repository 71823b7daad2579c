//! Requests and messages from end to end, by what a caller sees.
mod jobs;
