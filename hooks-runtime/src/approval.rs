//! Approval: a hook answers an event with a question for the user, and what the event
//! announces happens only if that is answered with a yes.
//!
//! | Type | Is |
//! |---|---|
//! | [`ApprovalRequest`] | the question, with the final data it is about; can be stored |
//! | [`ApprovalOption`] | an answer to choose from, and its [`ApprovalEffect`] |
//! | [`ApprovalProvider`] | who asks: [`ApprovalQueue`] for user interfaces, `TerminalPrompt` for a terminal (feature `terminal`), [`FixedAnswers`] for tests |
//! | [`Approval`] | what came of it |
//!
//! The [`Coordinator`](crate::Coordinator) brings them together. What it holds to:
//!
//! | | |
//! |---|---|
//! | Nobody to ask | denied, whatever the default |
//! | No answer in time, an error or a panic of the provider | the default of the question; of a hook that is not trusted, a denial |
//! | The time cannot be kept, as in a runtime without a timer | denied |
//! | A question of a trusted hook behind one that is not | the trusted one is put |
//! | A time of 0 | the default, at once |
//! | An answer that was not offered | denied |
//! | "Allow always" | remembered for the session, for the same event, hook, question, tool and input; the generic question never |
//! | The same question, asked by several at the same time | put once; all get its answer |
//! | Data that a hook changed after the question was put | the request has the final data, and says that they changed; nothing remembered under the hook's own key applies |
//! | Everybody who asks is gone | the question is withdrawn |

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
