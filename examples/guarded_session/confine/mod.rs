//! Confinement: the kernel restricts the files, processes and sockets that a call can reach. The
//! policies only read the text of a call and are not a security boundary.
//!
//! A call never runs in this process. The example starts itself again (see [`stage`]); the copy
//! confines itself and then runs the call. The available mechanisms depend on the system:
//! [`Confinement::probe`] tries combinations from the strongest on and keeps the first that passes
//! a self-test.
//!
//! | Mechanism | Restriction |
//! |---|---|
//! | namespaces | a file system of system folders (read-only) and the scratch copy, no other process, no network device |
//! | Landlock | reading and running system folders, writing the scratch copy, no signal to the outside |
//! | seccomp | no socket, no other user's keys, timers or memory, no way to undo the confinement |
//! | another user | calls of root run as a user without files and capabilities |
//! | limits | memory, CPU time, processes, size of a file |

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

/// Error of a confinement step; the call does not run.
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
