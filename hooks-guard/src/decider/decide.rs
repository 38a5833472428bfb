//! The decision of one request: of the service, else of this process. In: a configuration, its gates
//! and a request. Out: the decision and its source.

use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::deadline::TrailKind;
use super::error::DecideError;
use super::strictness::Strictness;
use crate::audit::{AuditStore, TrailAddress};
use crate::client::{Address, Client};
use crate::gate::Gate;
use crate::request::{PermissionDecision, PermissionRequest, Sight};
use crate::service::PermissionService;

/// Creates the gates of this process.
pub trait LocalGates: Clone + Send + 'static {
    /// Error if a gate cannot be created.
    type Error: Error + Send + Sync + 'static;

    /// Creates the gate of the configuration. `listen` is the address of a service.
    ///
    /// # Errors
    /// If the rules or the scripts cannot be loaded: they might deny a request.
    fn gate(&self, listen: Option<SocketAddr>) -> Result<Gate, Self::Error>;

    /// Creates the gate of the configuration without a language model, for a shell with this home
    /// directory. `listen` is the address of a service.
    ///
    /// # Errors
    /// As for [`gate`](Self::gate).
    fn gate_without_model(
        &self,
        home: &Path,
        listen: Option<SocketAddr>,
    ) -> Result<Gate, Self::Error>;
}

/// The service, the trail and the gates of a configuration.
#[derive(Clone, Debug)]
pub struct Deciders<G> {
    /// Address of the service.
    pub service: Address,
    /// TCP address of the service, which is protected from requests.
    pub listen: SocketAddr,
    /// File with the service's key.
    pub key_file: PathBuf,
    /// File of the configuration, for messages.
    pub config_file: PathBuf,
    /// Address of the trail.
    pub trail: String,
    /// Duration for which a question stays pending.
    pub approval_ttl: Duration,
    /// The user's home directory.
    pub home: PathBuf,
    /// Home directory of the agent's shell, if it differs from the user's. Requests are evaluated
    /// with both.
    pub other_home: Option<PathBuf>,
    /// The gates of this process.
    pub gates: G,
}

impl<G: LocalGates> Deciders<G> {
    pub(super) fn gate(&self, listen: Option<SocketAddr>) -> Result<Gate, DecideError> {
        let gate = self.gates.gate(listen);
        gate.map_err(|error| DecideError::Gate(error.into()))
    }

    pub(super) fn gate_without_model(
        &self,
        home: &Path,
        listen: Option<SocketAddr>,
    ) -> Result<Gate, DecideError> {
        let gate = self.gates.gate_without_model(home, listen);
        gate.map_err(|error| DecideError::Gate(error.into()))
    }

    fn trail_file(&self) -> Option<&Path> {
        match TrailAddress::read(&self.trail) {
            Some(TrailAddress::File(file)) => Some(file),
            _ => None,
        }
    }
}

/// A decision and where it was made.
#[derive(Debug)]
pub enum DecisionSource {
    /// Made by the service, which can be asked again.
    Service(Client, PermissionDecision),
    /// Made by this process; with the reason why the service's decision was not used, if a service
    /// is there.
    Local(PermissionDecision, Option<String>),
}

/// Decides one request within a deadline.
#[derive(Debug)]
pub struct Decider<'a, G> {
    pub(super) deciders: &'a Deciders<G>,
    trail: TrailKind,
    /// `true` if this process ends after the request, so that it need not close the trail.
    exits: bool,
    began: Instant,
    deadline: Instant,
}

impl<'a, G: LocalGates + Sync> Decider<'a, G> {
    /// Creates the decider of a request. `began` is the start of the hook, and `deadline` the
    /// deadline of the decision, or of the operator's answer.
    #[must_use]
    pub fn new(deciders: &'a Deciders<G>, began: Instant, deadline: Instant) -> Self {
        Self {
            trail: match deciders.trail_file() {
                Some(file) if !file.exists() => TrailKind::NewFile,
                Some(_) => TrailKind::File,
                None => TrailKind::Server,
            },
            deciders,
            exits: true,
            began,
            deadline,
        }
    }

    /// Closes the trail after each use, for a process that decides further requests.
    #[must_use]
    pub fn in_long_lived_process(self) -> Self {
        Self {
            exits: false,
            ..self
        }
    }

    /// Returns the deadline of the decision, or of the operator's answer.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns the decision of the service or, if there is no service, of this process. `missing`
    /// is the reason of a denial if this process decides, the request needs approval and the agent
    /// has no prompt.
    ///
    /// # Errors
    /// If neither can decide, with the reason. The request must not run without an approval of the
    /// agent's user.
    pub async fn decide(
        &self,
        request: &PermissionRequest,
        missing: &str,
    ) -> Result<DecisionSource, String> {
        match self.decide_by_service(request).await {
            Ok((client, permission)) => Ok(DecisionSource::Service(client, permission)),
            Err(why) => self.decide_in_process(request, missing, why).await,
        }
    }

    /// Returns the decision of this process. `why` is the reason why the service did not decide,
    /// if a service is there.
    ///
    /// # Errors
    /// If this process cannot decide or record, with the reason.
    pub async fn decide_in_process(
        &self,
        request: &PermissionRequest,
        missing: &str,
        why: Option<String>,
    ) -> Result<DecisionSource, String> {
        let permission = self.decide_locally(request, missing).await;
        match (permission, why) {
            (Ok(permission), why) => Ok(DecisionSource::Local(permission, why)),
            (Err(error), Some(why)) => Err(format!("{error}; {why}")),
            (Err(error), None) => Err(error),
        }
    }

    async fn decide_locally(
        &self,
        request: &PermissionRequest,
        missing: &str,
    ) -> Result<PermissionDecision, String> {
        let request = &with_sight(request.clone());
        let failed = |error: &dyn fmt::Display| format!("hooks-guard cannot decide: {error}");
        let gate = self.gate(request).await.map_err(|error| failed(&error))?;
        if request.mcp.is_some() {
            let decided = gate.decide(request).await;
            if decided.unknown_tool {
                return Ok(decided.permission);
            }
        }
        // An operator cannot answer a question of this process.
        let decide = |service: PermissionService| async move {
            let decided = service.request_without_operator(request.clone(), missing);
            decided.await
        };
        match self.with_trail(gate.clone(), decide).await {
            Ok(permission) => Ok(permission),
            Err(error) => {
                let denial = find_denial(&gate, request).await;
                denial.ok_or_else(|| failed(&error))
            }
        }
    }

    /// Returns the gate of this process: among those for each home directory, the strictest about
    /// this request.
    async fn gate(&self, request: &PermissionRequest) -> Result<Gate, DecideError> {
        let listen = self.listening_address().await;
        let gate = self.deciders.gate(listen)?;
        let Some(home) = &self.deciders.other_home else {
            return Ok(gate);
        };
        let other = self.deciders.gate_without_model(home, listen)?;
        let by_other = Strictness::of(&other.decide(request).await.permission);
        let by_own = Strictness::of(&gate.decide(request).await.permission);
        Ok(if by_other > by_own { other } else { gate })
    }

    /// Opens the trail in this process for `work`, which must end before the local deadline.
    pub(super) async fn with_trail<T, E, F>(
        &self,
        gate: Gate,
        work: impl FnOnce(PermissionService) -> F,
    ) -> Result<T, DecideError>
    where
        F: Future<Output = Result<T, E>>,
        DecideError: From<E>,
    {
        let url = &self.deciders.trail;
        let done = async {
            let audit = AuditStore::open_one_shot(url).await;
            let audit = audit.map_err(|source| DecideError::Trail {
                url: url.clone(),
                source,
            })?;
            let service = PermissionService::new(gate, audit.clone(), self.deciders.approval_ttl);
            let done = work(service).await;
            if self.exits {
                audit.leave_open();
            }
            Ok(done?)
        };
        let late = |_| match self.trail {
            TrailKind::NewFile | TrailKind::File => DecideError::Overloaded,
            TrailKind::Server => DecideError::TrailLocked,
        };
        let until = self
            .trail
            .deadline(self.began, Instant::now(), self.deadline);
        timeout_at(until, done).await.map_err(late)?
    }

    pub(super) fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

/// Returns a request whose command would run on this machine, with the variables of this process.
pub(super) fn with_sight(request: PermissionRequest) -> PermissionRequest {
    PermissionRequest {
        sight: Sight::FilesAndVariables,
        ..request
    }
}

/// Returns the decision about a request if it is a denial: a denial holds even if it cannot be
/// recorded.
async fn find_denial(gate: &Gate, request: &PermissionRequest) -> Option<PermissionDecision> {
    let permission = gate.decide(request).await.permission;
    permission.denied.then_some(permission)
}
