//! Notifications: a person is told once, by the ways they want, when they want it.

mod parcel;

pub use parcel::{Address, Channel, Class, Content, Handed, Parcel};
