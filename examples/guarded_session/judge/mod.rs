//! What the text of a call says it would do.
//!
//! These judgements are for people: they refuse early, with a reason that names
//! the mistake. They are not the boundary. A script that a call has written can
//! do what no policy reads here; what it can reach is what [`crate::confine`]
//! leaves it. What is not understood is refused, not let through.

pub(crate) mod paths;
pub(crate) mod programs;
pub(crate) mod rewrites;
pub(crate) mod risks;
pub(crate) mod secrets;
pub(crate) mod shell;
pub(crate) mod word;
