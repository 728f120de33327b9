//! One trap at a time.

mod blind;
mod broken;
mod content;
mod expiry;
mod limits;
mod listing;
mod names;
mod past;
mod privileges;
mod race;
mod roles;
mod space;
mod times;
