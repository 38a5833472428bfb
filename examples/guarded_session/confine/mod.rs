//! The boundary: what a call may touch, held by the kernel and not by the
//! policies, which only read the text of a call.
//!
//! A call never runs in this process. The example starts itself again (see
//! [`stage`]), the copy locks itself in, and only then does the work. Which
//! locks there are depends on the system; [`Confinement::probe`] tries them from
//! the strongest on and keeps the first that a self-test proves to hold.
//!
//! | lock | holds |
//! |---|---|
//! | namespaces | a file system of system folders (read-only) and the scratch copy, no other process, no network device |
//! | Landlock | reading and running system folders, writing the scratch copy, no signal to the outside |
//! | seccomp | no socket, no other user's keys, timers or memory, no way to undo the locks |
//! | another user | root's calls run as a user who owns nothing, without capabilities |
//! | limits | memory, processor time, processes, size of a file |

mod filesystem;
mod filter;
mod identity;
mod limits;
mod namespaces;
mod plan;
mod probe;
pub(crate) mod stage;
mod syscalls;

pub(crate) use limits::Limits;
pub(crate) use plan::Plan;
pub(crate) use probe::{Confinement, NoConfinement};

use std::io;

/// Why a lock cannot be put on; the call does not run then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ConfineError {
    /// A step that the kernel refused.
    #[error("cannot {step}: {error}")]
    Step {
        step: &'static str,
        #[source]
        error: io::Error,
    },
    #[error("cannot restrict the file system: {0}")]
    Landlock(#[from] landlock::RulesetError),
    #[error("the kernel does not offer Landlock")]
    NoLandlock,
    #[error("cannot filter system calls: {0}")]
    Seccomp(#[from] seccompiler::Error),
    #[error("cannot build the filter for system calls: {0}")]
    Filter(#[from] seccompiler::BackendError),
}

/// Turns an error of the system into a [`ConfineError`] that names the step.
trait Step<T> {
    fn step(self, step: &'static str) -> Result<T, ConfineError>;
}

impl<T, E: Into<io::Error>> Step<T> for Result<T, E> {
    fn step(self, step: &'static str) -> Result<T, ConfineError> {
        self.map_err(|error| ConfineError::Step {
            step,
            error: error.into(),
        })
    }
}
