//! What users of the macros write: mistakes, the programs of the book's guide, and packages with
//! every combination of dependencies. One program, because its builds often wait for a single
//! process.

mod fail;
#[allow(
    unreachable_pub,
    reason = "they are public in the library of `hooks-tests`"
)]
#[path = "../support/files.rs"]
mod files;
mod guide;
mod outside;
mod reach;
