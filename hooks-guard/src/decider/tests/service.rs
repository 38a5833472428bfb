//! A program that listens as the service does, and responds as a test needs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::Setup;
use crate::client::Address;
use crate::proof::{self, Handshake, ServiceKey};
use crate::request::PermissionDecision;

/// How the program responds.
#[derive(Clone, Debug)]
pub(super) enum Respond {
    /// With this status and body, and a valid proof.
    Body(u16, String),
    /// Not at all, after the handshake.
    Never,
    /// With a page of a website, without a proof.
    Website,
}

impl Respond {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::Body(status, body.to_string())
    }

    pub(super) fn decision(permission: &PermissionDecision) -> Self {
        Self::json(200, &serde_json::to_value(permission).expect("JSON"))
    }

    pub(super) fn refusal(status: u16, code: &str) -> Self {
        Self::json(status, &json!({ "error": "refused", "code": code }))
    }
}

#[derive(Clone)]
struct Service {
    key: ServiceKey,
    respond: Respond,
    /// The handshake of the latest connection.
    handshake: Arc<Mutex<Option<Handshake>>>,
}

/// A program that listens; ends when dropped.
pub(super) struct Listening(JoinHandle<()>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Setup {
    /// Creates the service's key.
    pub(super) fn create_key(&self) -> ServiceKey {
        ServiceKey::load_or_create(&self.deciders.key_file).expect("a key")
    }

    /// Starts a program at the service's address.
    pub(super) async fn listen(&mut self, respond: Respond) -> Listening {
        let listener = self.bind().await;
        let service = Service {
            key: self.create_key(),
            respond,
            handshake: Arc::default(),
        };
        let app = Router::new()
            .route(proof::IDENTITY, get(identity))
            .fallback(reply)
            .with_state(service);
        Listening(tokio::spawn(async move {
            axum::serve(listener, app).await.expect("it listens");
        }))
    }

    /// Binds the service's address, without a program that accepts connections.
    pub(super) async fn bind(&mut self) -> TcpListener {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        self.deciders.service = Address::Tcp(listener.local_addr().expect("an address"));
        listener
    }
}

async fn identity(State(service): State<Service>, headers: HeaderMap) -> String {
    if matches!(service.respond, Respond::Website) {
        return "<html>".to_owned();
    }
    let header = |name| headers[name].to_str().expect("text").to_owned();
    let nonce = proof::nonce();
    let handshake = Handshake::new(service.key, header(proof::CHALLENGE), nonce.clone());
    let proof = handshake.service_proof(&header(proof::ADDRESS));
    *service.handshake.lock().expect("a handshake") = Some(handshake);
    json!({ "nonce": nonce, "proof": proof }).to_string()
}

async fn reply(
    State(service): State<Service>,
    headers: HeaderMap,
    _: Bytes,
) -> (StatusCode, HeaderMap, String) {
    let (status, body) = match service.respond {
        Respond::Body(status, body) => (status, body),
        Respond::Website => (200, "<html>".to_owned()),
        Respond::Never => {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            unreachable!("the client waits less");
        }
    };
    let mut proved = HeaderMap::new();
    if let Some(handshake) = &*service.handshake.lock().expect("a handshake") {
        let request = headers[proof::PROOF].to_str().expect("text");
        let proof = handshake.response_proof(request, status, body.as_bytes());
        proved.insert(proof::PROOF, proof.parse().expect("a header"));
    }
    (
        StatusCode::from_u16(status).expect("a status"),
        proved,
        body,
    )
}
