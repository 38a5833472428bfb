//! What users of the macros write: mistakes, and the programs of the book's guide. One program,
//! because the builds of the guide often wait for a single process.

mod fail;
#[allow(
    unreachable_pub,
    reason = "they are public in the library of `hooks-tests`"
)]
#[path = "../support/files.rs"]
mod files;
mod guide;
