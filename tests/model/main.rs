//! The filesystem's core: against a plain model of a POSIX tree, and one trap at a time.
