//! The running service as a decider, over HTTP. In: a request or a question. Out: its decision if it
//! counts, or the operator's answer.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use super::deadline::{DECISION_TIMEOUT, HANDSHAKE_TIMEOUT};
use super::decide::{Decider, LocalGates};
use super::error::DecideError;
use super::evaluation::LocalDecisions;
use super::strictness::{counts_alone, is_as_strict};
use crate::changes::FileChanges;
use crate::client::{Address, Client, ClientError};
use crate::proof::{KeyError, ServiceKey};
use crate::request::{PermissionDecision, PermissionRequest};
use crate::tool_call::{QuestionAnswer, QuestionService, RedeemError};
use crate::workspace::LocalWorkspace;

/// How long to retry while an operator's answer is pending and the service is unreachable; it may
/// be restarting.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Delay between two attempts to reach the service.
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// Timeout of the proof that a service listens at the configured address.
const PROOF_TIMEOUT: Duration = Duration::from_millis(100);

impl<G: LocalGates + Sync> Decider<'_, G> {
    /// Returns the decision of the service.
    ///
    /// # Errors
    /// If the decision of this process counts. The error holds the reason, if a service is there.
    pub async fn decide_by_service(
        &self,
        request: &PermissionRequest,
    ) -> Result<(Client, PermissionDecision), Option<String>> {
        match self.client() {
            Ok(Some(client)) => {
                let permission = self.decided_by(&client, request).await?;
                Ok((client, permission))
            }
            Ok(None) => {
                let place = self.deciders.service.clone();
                let unproved = ClientError::Unproved(place.to_string());
                let listens = Client::new(place).is_reachable(HANDSHAKE_TIMEOUT).await;
                Err(listens.then(|| unproved.to_string()))
            }
            Err(error) => Err(Some(error.to_string())),
        }
    }

    /// Returns a client that requires proof of the key, or `None` if no service has created a key
    /// yet.
    pub(super) fn client(&self) -> Result<Option<Client>, KeyError> {
        let key = match ServiceKey::load(&self.deciders.key_file) {
            Ok(key) => key,
            Err(KeyError::Missing(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let client = Client::new(self.deciders.service.clone()).with_key(key);
        Ok(Some(client.with_handshake_timeout(HANDSHAKE_TIMEOUT)))
    }

    /// Returns the address of a service of this user, if one may listen there.
    pub(super) async fn listening_address(&self) -> Option<SocketAddr> {
        listening_address(self.deciders.listen, &self.deciders.key_file).await
    }

    /// Returns the decision of the service. An error holds the reason why it was not used, if a
    /// service is there.
    ///
    /// A service that has proved that it has the key decides. A decision that lets the request run
    /// counts only if this process is not stricter, or if the operator has approved the request:
    /// the key alone does not open the gate.
    async fn decided_by(
        &self,
        client: &Client,
        request: &PermissionRequest,
    ) -> Result<PermissionDecision, Option<String>> {
        let body = serde_json::to_value(PermissionRequest {
            secret_variables: LocalWorkspace::own_secret_variables(),
            ..request.clone()
        });
        let body = body.map_err(|error| Some(error.to_string()))?;
        let connected = client.connect().await.map_err(|error| reason(&error))?;
        // Evaluate in parallel with the service.
        let own = self.local_decisions(vec![request.clone()], Some(self.deciders.listen));
        let limit = DECISION_TIMEOUT.min(self.remaining() / 2);
        let response = connected.post("/api/hooks/permission-request", &body, limit);
        let permission = permission(response.await).map_err(|error| reason(&error))?;
        self.confirmed(permission, own).await
    }

    /// Returns the decision of the service if it counts beside the decisions of this process. An
    /// error holds the reason why the service's decision is not used.
    pub(super) async fn confirmed(
        &self,
        permission: PermissionDecision,
        own: oneshot::Receiver<LocalDecisions>,
    ) -> Result<PermissionDecision, Option<String>> {
        if counts_alone(&permission) {
            return Ok(permission);
        }
        let own = own.await.unwrap_or(Err(DecideError::Panicked));
        let own = own.map_err(|error| Some(error.to_string()))?;
        // A language model can only raise a class, so a decision without it never allows less.
        match is_as_strict(&permission, own.iter().flatten()) {
            true => Ok(permission),
            false => Err(Some(format!(
                "the service allows this command, but the hook's own check does not; make sure \
                 that both use `{}` and its rules",
                self.deciders.config_file.display()
            ))),
        }
    }
}

/// Returns the reason why the service's decision is not used; `None` if no service is there.
///
/// The service or the request is faulty; this process decides, and its decision is at least as
/// strict.
pub(super) fn reason(error: &ClientError) -> Option<String> {
    tracing::debug!(%error, "the service does not decide");
    (!matches!(error, ClientError::Unreachable(_))).then(|| error.to_string())
}

/// Reads the decision in a response of the service.
pub(super) fn permission(
    response: Result<Value, ClientError>,
) -> Result<PermissionDecision, ClientError> {
    serde_json::from_value(response?).map_err(|_| ClientError::UnexpectedResponse)
}

/// Returns the address if a service of this user may listen there: a program proves that it has the
/// key in `key_file`, or does not respond in time. Returns `None` if nothing or another program
/// listens there, such as the server of a website on port 3000.
pub async fn listening_address(listen: SocketAddr, key_file: &Path) -> Option<SocketAddr> {
    let key = match ServiceKey::load(key_file) {
        Ok(key) => key,
        // No service has started.
        Err(KeyError::Missing(_)) => return None,
        Err(_) => return Some(listen),
    };
    let client = Client::new(Address::Tcp(listen)).with_key(key);
    let client = client.with_handshake_timeout(PROOF_TIMEOUT);
    match client.connect().await {
        Err(ClientError::Unreachable(_) | ClientError::Unproved(_)) => None,
        // A service without capacity closes connections.
        Ok(_) | Err(_) => Some(listen),
    }
}

/// Returns `true` if the service is unreachable or shutting down; a question that was asked stays
/// pending.
fn is_unreachable(error: &ClientError) -> bool {
    match error {
        ClientError::Unreachable(_) | ClientError::UnexpectedResponse => true,
        ClientError::Refused { code, .. } => code == "SHUTTING_DOWN",
        _ => false,
    }
}

/// The running service, to which this process has sent a question.
#[derive(Debug)]
pub struct RemoteService {
    client: Client,
    /// Time of the first of consecutive failures to reach the service.
    unreachable_since: Mutex<Option<Instant>>,
}

impl RemoteService {
    /// Creates the service that this client reaches.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self {
            client,
            unreachable_since: Mutex::new(None),
        }
    }

    /// Returns `true` until [`RECONNECT_TIMEOUT`] has passed since the first failure.
    fn retries(&self) -> bool {
        let since = self.unreachable_since.lock();
        let mut since = since.unwrap_or_else(PoisonError::into_inner);
        since.get_or_insert_with(Instant::now).elapsed() < RECONNECT_TIMEOUT
    }

    fn set_reached(&self) {
        let since = self.unreachable_since.lock();
        *since.unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl QuestionService for RemoteService {
    async fn show_changes(&self, id: i64, secret: &str, changes: FileChanges, limit: Duration) {
        let path = format!("/api/hooks/decisions/{id}/changes");
        let body = json!({ "secret": secret, "changes": changes });
        if let Err(error) = self.client.post(&path, &body, limit).await {
            tracing::debug!(%error, "the question does not show its changes");
        }
    }

    async fn wait_for_answer(
        &self,
        id: i64,
        wait: u64,
        limit: Duration,
    ) -> Result<Option<QuestionAnswer>, String> {
        let path = format!("/api/hooks/decisions/{id}?wait={wait}");
        let record = match self.client.get(&path, limit).await {
            Ok(record) => record,
            Err(ClientError::Timeout(_)) => return Ok(None),
            Err(error) if is_unreachable(&error) && self.retries() => {
                sleep(RETRY_DELAY).await;
                return Ok(None);
            }
            Err(error) => return Err(error.to_string()),
        };
        self.set_reached();
        Ok(record["user_response"].as_str().map(|answer| match answer {
            "APPROVED" => QuestionAnswer::Approved,
            "TIMEOUT" => QuestionAnswer::Expired,
            _ => QuestionAnswer::Denied {
                note: record["answer_note"].as_str().map(str::to_owned),
            },
        }))
    }

    async fn redeem(&self, id: i64, secret: &str, limit: Duration) -> Result<(), RedeemError> {
        let path = format!("/api/hooks/decisions/{id}/redeem");
        let body = json!({ "secret": secret });
        match self.client.post(&path, &body, limit).await {
            Ok(_) => Ok(()),
            Err(ClientError::Refused { code, error, .. }) if code == "CHANGED" => {
                Err(RedeemError::Changed(error))
            }
            Err(error) => Err(RedeemError::Failed(error.to_string())),
        }
    }
}
