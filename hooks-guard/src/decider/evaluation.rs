//! Evaluation by the tables and rules of this process, in a thread of its own. In: requests. Out: a
//! decision for each home directory that `~` may mean.

use std::net::SocketAddr;
use std::thread;

use tokio::runtime::Builder;
use tokio::sync::oneshot;

use super::decide::{Decider, LocalGates, with_sight};
use super::error::DecideError;
use super::strictness::strictest;
use crate::gate::Gate;
use crate::request::{PermissionDecision, PermissionRequest};

/// Stack size of a thread that evaluates requests, equal to that of a process's first thread.
pub const STACK_BYTES: usize = 8 << 20;

/// The decisions about each request, one for each home directory.
pub(super) type LocalDecisions = Result<Vec<Vec<PermissionDecision>>, DecideError>;

impl<G: LocalGates + Sync> Decider<'_, G> {
    /// Evaluates requests by the tables and rules of this process, each once for each directory
    /// that `~` may mean. `listen` is the address of a service. A thread runs this in parallel with
    /// the service. If it panics, the receiver gets an error.
    pub(super) fn local_decisions(
        &self,
        requests: Vec<PermissionRequest>,
        listen: Option<SocketAddr>,
    ) -> oneshot::Receiver<LocalDecisions> {
        let requests = requests.into_iter().map(with_sight).collect::<Vec<_>>();
        let deciders = self.deciders.clone();
        let (send, receive) = oneshot::channel();
        let evaluate = move || -> LocalDecisions {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let homes = std::iter::once(&deciders.home).chain(&deciders.other_home);
            let gates = homes.map(|home| deciders.gate_without_model(home, listen));
            let gates = gates.collect::<Result<Vec<_>, _>>()?;
            let decisions = |request| {
                let by = |gate: &Gate| runtime.block_on(gate.decide(request)).permission;
                gates.iter().map(by).collect()
            };
            Ok(requests.iter().map(decisions).collect())
        };
        let evaluation = move || {
            // The receiver is dropped if the decisions are no longer needed.
            let _ = send.send(evaluate());
        };
        // If no thread starts, the sender is dropped, and the receiver gets an error.
        let _ = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(evaluation);
        receive
    }

    /// Returns the strictest of several readings of a request by the tables and rules of this
    /// process, with its decision; `None` without readings.
    ///
    /// # Errors
    /// If a gate cannot be created, or the evaluation panics.
    pub async fn strictest(
        &self,
        readings: Vec<PermissionRequest>,
    ) -> Result<Option<(PermissionRequest, PermissionDecision)>, DecideError> {
        if readings.is_empty() {
            return Ok(None);
        }
        let listen = self.listening_address().await;
        let decisions = self.local_decisions(readings.clone(), listen).await;
        let decisions = decisions.map_err(|_| DecideError::Panicked)??;
        let pairs = readings.iter().zip(decisions);
        let pairs = pairs.flat_map(|(reading, decisions)| {
            decisions
                .into_iter()
                .map(move |decision| (reading, decision))
        });
        let found = strictest(pairs);
        Ok(found.map(|(reading, decision)| (reading.clone(), decision)))
    }
}
