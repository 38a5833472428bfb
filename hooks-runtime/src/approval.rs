//! Approval: a hook returns a question for the user, and the announced action runs only if the user
//! answers yes.
//!
//! | Type | Description |
//! |---|---|
//! | [`ApprovalRequest`] | The question, with the final data that it covers; can be stored |
//! | [`ApprovalOption`] | An answer to choose from, and its [`ApprovalEffect`] |
//! | [`ApprovalProvider`] | Delivers questions to the user: [`ApprovalQueue`] for user interfaces, `TerminalPrompt` for a terminal (feature `terminal`), [`FixedAnswers`] for tests |
//! | [`Approval`] | The decision |
//!
//! The [`Coordinator`](crate::Coordinator) connects them. It guarantees:
//!
//! | Situation | Result |
//! |---|---|
//! | No provider | denied, whatever the default |
//! | Timeout, or an error or a panic of the provider | the default of the question; for an untrusted hook, a denial |
//! | The timeout cannot be enforced, as in a runtime without a timer | denied |
//! | An untrusted hook's question before a trusted hook's | the trusted hook's question is asked |
//! | A timeout of 0 | the default, at once |
//! | An answer that was not offered | denied |
//! | An untrusted hook's label that says neither yes nor no | not offered; `Allow` or `Deny` is offered if no other label allows once or denies |
//! | "Allow always" | remembered for the session, for an equal event, hook, question, tool and input; never for the generic question |
//! | Equal questions at one time | asked once; every caller gets the answer |
//! | Data changed by a hook after the question | the request has the final data and a flag for the change; a grant under the hook's own key does not apply |
//! | All callers have dropped their futures | the question is withdrawn |

mod broker;
mod grants;
mod option;
mod outcome;
mod provider;
mod queue;
mod request;
#[cfg(all(unix, feature = "terminal"))]
mod terminal;

pub(crate) use broker::ApprovalBroker;
pub use option::{ApprovalEffect, ApprovalOption};
pub use outcome::{Approval, ApprovalDecision};
pub(crate) use provider::DynApprovalProvider;
pub use provider::{ApprovalProvider, FixedAnswers};
pub use queue::{ApprovalQueue, NotWaiting};
pub use request::{ApprovalAnswer, ApprovalRequest};
#[cfg(all(unix, feature = "terminal"))]
pub use terminal::TerminalPrompt;
