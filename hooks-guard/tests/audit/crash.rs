//! What can go wrong with a file, and what is said then.
