//! A proxy of the Agent Client Protocol (ACP) between an editor, the client, and an agent. In: the
//! messages of both. Out: the same messages, without the requests of the agent that a gate denies.
//!
//! | Module | Contents |
//! |---|---|
//! | `message` | Reads a line as a JSON-RPC message; refuses what parsers read differently |
//! | `lines` | Lines of limited length, and queues for writers |
//! | `requests` | Reads the requests of an agent that need a decision |
//! | `options` | The options of a permission request |
//! | `agents` | What is known of single agents |
//! | `tool_calls` | The tool calls that an agent has described |
//! | `decide` | [`RequestGate`], which decides about requests |
//! | `state` | Open requests and sessions |
//! | `approved` | Approved changes of files, which cover one write each |
//! | `proxy` | [`Proxy`], which passes messages on |
//! | `fuzz` | Properties that hold for any messages; compiled for tests and fuzz targets |

mod agents;
mod approved;
mod decide;
#[cfg(any(test, fuzzing))]
mod fuzz;
mod lines;
mod message;
mod options;
mod parameters;
mod proxy;
mod requests;
mod state;
mod tool_calls;

pub use self::decide::{
    DecidedRequest, DecisionRecord, OperatorDecision, RecordKey, RequestDecision, RequestGate,
    RequestOutcome,
};
#[cfg(fuzzing)]
pub use self::fuzz::fuzz_proxy;
pub use self::options::PermissionOptions;
pub use self::proxy::{Proxy, ProxyTasks};
pub use self::requests::{AgentRequest, Evidence, RequestKind};
