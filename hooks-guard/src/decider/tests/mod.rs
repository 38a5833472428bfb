//! Tests of the deciders: a service that fails in each way beside a process that decides, asks,
//! denies or fails.

mod failures;
mod questions;
mod records;
mod service;
mod which_counts;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use hooks_runtime::HookError;
use jiff::Timestamp;
use tempfile::TempDir;
use thiserror::Error;
use tokio::time::Instant;

use super::{Decider, Deciders, DecisionSource, LocalGates};
use crate::classify::{Classification, Classifier, CommandAnalysis, Crud, Decision, Method};
use crate::client::Address;
use crate::gate::{Classify, Gate, GateHooks, Policy, Restrict, Restriction};
use crate::protocol::{Agent, DecisionRequest, HookEvent, read_in};
use crate::request::{PermissionDecision, PermissionRequest};

pub(super) fn allowed() -> PermissionDecision {
    PermissionDecision {
        decision: Decision::AutoAllowed,
        classification: Crud::Read,
        reasoning: "of the service".to_owned(),
        confidence: 1.0,
        explanation: String::new(),
        classification_method: Method::PatternMatch,
        timestamp: Timestamp::UNIX_EPOCH,
        id: None,
        secret: None,
        approved: false,
        denied: false,
        left_to_agent: false,
        names_tool: false,
        hidden_code: false,
        timed_out: false,
        rule: None,
    }
}

pub(super) fn asks() -> PermissionDecision {
    PermissionDecision {
        decision: Decision::RequiresConfirmation,
        ..allowed()
    }
}

pub(super) fn left_to_agent() -> PermissionDecision {
    PermissionDecision {
        left_to_agent: true,
        ..asks()
    }
}

pub(super) fn denied() -> PermissionDecision {
    PermissionDecision {
        denied: true,
        ..asks()
    }
}

/// Behaviour of the gates of this process.
#[derive(Clone, Copy, Debug)]
enum Gates {
    /// Decide by the tables: `ls` is allowed, `rm` needs approval.
    Tables,
    /// Deny every request.
    Deny,
    /// Allow every request for the user's home directory, and ask about it for another.
    AskForOtherHome,
    /// Cannot be created.
    Fail,
    /// Panic while they are created.
    Panic,
}

#[derive(Debug, Error)]
#[error("invalid rules; correct them")]
struct InvalidRules;

struct Denies;

impl Restrict for Denies {
    async fn restrict(
        &self,
        _: &PermissionRequest,
        _: &Classification,
    ) -> Result<Option<Restriction>, HookError> {
        Ok(Some(Restriction::Deny("frozen".to_owned())))
    }
}

struct NoClass;

impl Classify for NoClass {
    async fn classify(&self, _: &PermissionRequest) -> Option<CommandAnalysis> {
        None
    }
}

impl LocalGates for Gates {
    type Error = InvalidRules;

    fn gate(&self, _: Option<SocketAddr>) -> Result<Gate, InvalidRules> {
        match self {
            Self::Tables | Self::AskForOtherHome => Ok(Gate::tables_only()),
            Self::Deny => {
                let hooks = GateHooks::new().with_classify(Classifier::new());
                let hooks = hooks.with_restrict(Denies);
                Ok(Gate::with_hooks(hooks, Policy::default()))
            }
            Self::Fail => Err(InvalidRules),
            Self::Panic => panic!("the gate panics"),
        }
    }

    fn gate_without_model(
        &self,
        home: &Path,
        listen: Option<SocketAddr>,
    ) -> Result<Gate, InvalidRules> {
        match self {
            Self::AskForOtherHome if home == Path::new("/other") => {
                let hooks = GateHooks::new().with_classify(NoClass);
                Ok(Gate::with_hooks(hooks, Policy::default()))
            }
            _ => self.gate(listen),
        }
    }
}

/// A configuration in a folder of its own, without a service.
struct Setup {
    folder: TempDir,
    deciders: Deciders<Gates>,
}

impl Setup {
    fn new(gates: Gates) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name| folder.path().join(name);
        // Port 1 is reserved, and no test listens there.
        let unused = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let deciders = Deciders {
            service: Address::Tcp(unused),
            listen: unused,
            key_file: path("service.key"),
            config_file: path("config.toml"),
            trail: format!("sqlite:{}", path("audit.db").display()),
            approval_ttl: Duration::from_secs(300),
            home: "/home/me".into(),
            other_home: None,
            gates,
        };
        Self { folder, deciders }
    }

    /// Replaces the trail by a file that cannot be opened.
    fn with_broken_trail(mut self) -> Self {
        self.deciders.trail = format!("sqlite:{}", self.folder.path().display());
        self
    }

    fn decider(&self) -> Decider<'_, Gates> {
        self.decider_for(Duration::from_secs(60))
    }

    /// Returns a decider with this time until its deadline.
    fn decider_for(&self, time: Duration) -> Decider<'_, Gates> {
        let began = Instant::now();
        Decider::new(&self.deciders, began, began + time)
    }

    async fn decide(&self, command: &str) -> Result<DecisionSource, String> {
        self.decider().decide(&request(command), "no service").await
    }

    /// Returns the decision of this process, and the reason why the service's was not used.
    async fn decide_locally(&self, command: &str) -> (PermissionDecision, Option<String>) {
        match self.decide(command).await {
            Ok(DecisionSource::Local(permission, why)) => (permission, why),
            other => panic!("this process decides, but the result is {other:?}"),
        }
    }
}

/// Returns a request of an agent that asks its own user.
fn request(command: &str) -> PermissionRequest {
    PermissionRequest {
        asks_itself: true,
        ..PermissionRequest::new(command)
    }
}

/// Returns an agent's question about a command.
fn question(command: &str, is_attended: bool) -> DecisionRequest {
    let input = serde_json::json!({
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "tool_name": "Bash",
        "tool_input": { "command": command },
        "tool_use_id": "t",
        "cwd": "/",
    });
    let event = read_in(Agent::ClaudeCode, input.to_string().as_bytes(), None);
    let Ok(HookEvent::Ask(mut question)) = event else {
        panic!("a question, but the event is {event:?}");
    };
    if !is_attended {
        question.set_unattended();
    }
    question
}
