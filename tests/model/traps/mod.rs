//! One trap at a time.
