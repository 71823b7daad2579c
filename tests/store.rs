//! Each condition, won and lost, on fresh tables.
mod jobs;
