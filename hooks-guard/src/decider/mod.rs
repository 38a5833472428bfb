//! Two deciders of one request: the running service, and this process. In: a configuration, its
//! gates and a request. Out: the decision that counts, with its source.
//!
//! | Result of the service | Decision that counts |
//! |---|---|
//! | a denial, a question, or an approval by the operator | of the service |
//! | an allow, or a decision left to the agent | of the service, if no decision of this process is stricter; else of this process |
//! | none: the service is unreachable, or no service has created a key | of this process |
//! | none: no proof of the key, a timeout, a refusal or an unexpected response | of this process, with the reason; an earlier approval does not count |
//!
//! If this process cannot decide or record either, there is no decision: the agent's user is asked,
//! or the request is denied. A denial counts without a record.
//!
//! A project can set variables in the environment of its agent, and another process can listen at
//! the service's address. A decision therefore depends on the configuration and the system's user
//! database only, and nothing is sent to a service that does not prove that it has the key.

mod answer;
mod deadline;
mod decide;
mod error;
mod evaluation;
mod record;
mod service;
mod strictness;
#[cfg(test)]
mod tests;

pub use answer::{approval_counts, local_answer};
pub use decide::{Decider, Deciders, DecisionSource, LocalGates};
pub use error::DecideError;
pub use evaluation::STACK_BYTES;
pub use service::{RemoteService, listening_address};
