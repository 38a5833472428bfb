//! Replay of past sessions. In: the transcripts that agents leave. Out: what the guard would have decided about each
//! call, as a report.
//!
//! A [`Transcript`] is read line by line and yields its calls. [`decide`] sends a call the way of the agent's hook: it
//! makes the hook's input ([`past_input`](crate::protocol::past_input)), reads it and asks the
//! [gate](crate::gate::Gate). [`ReplayCollector`] counts.
//!
//! Transcripts are read only, and nothing leaves the machine. A broken line is counted and skipped.

mod call;
mod database;
mod decide;
mod document;
mod find;
mod formats;
mod lines;
mod report;
mod transcript;

pub use self::call::{CallResult, ClientPermission, TranscriptCall};
pub use self::decide::{ReplayDecision, ReplayedCall, decide};
pub use self::find::{changed_at, replayed_agents, transcript_files, usual_folders};
pub use self::report::{
    AgentDecisionCounts, DecisionCounts, ReplayCollector, ReplayReason, ReplayReport,
    ReplayedAgent, TranscriptCounts,
};
pub use self::transcript::{Transcript, TranscriptProblems};
