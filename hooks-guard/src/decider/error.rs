//! The error type of decisions and records. In: an error of the service's client, the gate or the
//! trail. Out: one [`DecideError`] with its message.

use std::error::Error;

use thiserror::Error;

use crate::audit::{AuditError, without_password};
use crate::client::{Address, ClientError};
use crate::proof::KeyError;
use crate::service::ServiceError;

/// Error returned if neither the service nor this process can decide or record.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DecideError {
    /// The service's key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The service has no valid response.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// No service has created a key yet.
    #[error("the service at {0} has not created a key yet")]
    NoKey(Address),
    /// The gate of this process cannot be created, for example because a rule is invalid.
    #[error(transparent)]
    Gate(Box<dyn Error + Send + Sync>),
    /// This process cannot start a runtime.
    #[error(transparent)]
    Runtime(#[from] std::io::Error),
    /// The evaluation in this process panicked, or its thread did not start.
    #[error("hooks-guard panicked")]
    Panicked,
    /// The trail cannot be opened.
    #[error("{}: {source}", without_password(url))]
    Trail {
        /// Address of the trail.
        url: String,
        /// Cause.
        source: AuditError,
    },
    /// A trail on a server was not written in time.
    #[error(
        "timeout while writing the audit trail; look for a process that has locked it, such as a \
         stopped `hooks-guard serve`"
    )]
    TrailLocked,
    /// A trail in a file was not written in time.
    #[error(
        "timeout while writing the audit trail, because the machine or its disk is overloaded; try \
         again, or start `hooks-guard serve`, which records for all hooks"
    )]
    Overloaded,
    /// The trail of this process refused the request.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// Neither the service nor this process has recorded an execution.
    #[error("{service}; {local}")]
    NotRecorded {
        /// Error of the service.
        service: Box<DecideError>,
        /// Error of this process.
        local: Box<DecideError>,
    },
}
