//! `GET /api/hooks/identity`: the handshake in which service and client prove that they share the
//! key. Takes a challenge; returns the service's proof, and checks the proofs of requests.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::Body as _;
use serde::Serialize;

use super::body;
use super::error::ApiError;
use super::state::AppState;
use crate::proof::{self, Handshake};

/// Local end of the connection of a request, added by [`Server`](super::Server) only: a proof holds
/// for one connection.
#[derive(Clone, Debug)]
pub(super) struct LocalEnd {
    /// Local address of the service; `None` for the Unix socket.
    address: Option<SocketAddr>,
    handshake: Arc<Mutex<Option<Handshake>>>,
}

impl LocalEnd {
    pub(super) fn new(address: Option<SocketAddr>) -> Self {
        Self {
            address,
            handshake: Arc::default(),
        }
    }

    fn has_address(&self, address: &str) -> bool {
        match self.address {
            None => address == proof::UNIX,
            Some(own) => address
                .parse::<SocketAddr>()
                .is_ok_and(|address| normalize(address) == normalize(own)),
        }
    }

    fn handshake(&self) -> Option<Handshake> {
        let handshake = self.handshake.lock();
        handshake.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Normalizes an address: a dual-stack socket reports IPv4 addresses as mapped IPv6 addresses.
fn normalize(address: SocketAddr) -> (std::net::IpAddr, u16) {
    (address.ip().to_canonical(), address.port())
}

/// The service's part of the handshake.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Identity {
    /// 32 random bytes in hexadecimal; proofs of requests on this connection use it.
    nonce: String,
    /// HMAC-SHA256 under the key, in hexadecimal.
    proof: String,
}

/// Proves that the service has the key that this user's clients use.
#[utoipa::path(
    get,
    path = "/api/hooks/identity",
    params(
        ("X-Hooks-Guard-Challenge" = String, Header, description = "32 random bytes in hexadecimal"),
        ("X-Hooks-Guard-Address" = String, Header, description = "Address that the client connected to, such as `127.0.0.1:3000`, or `unix`"),
    ),
    responses(
        (status = 200, description = "The proof", body = Identity),
        (status = 400, description = "MISSING_FIELD", body = super::error::ErrorBody),
        (status = 403, description = "WRONG_ADDRESS", body = super::error::ErrorBody),
        (status = 503, description = "NO_KEY", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn identity(
    State(state): State<AppState>,
    reached: Option<Extension<LocalEnd>>,
    headers: HeaderMap,
) -> Result<Json<Identity>, ApiError> {
    let (Some(key), Some(Extension(reached))) = (state.inner.key.get(), reached) else {
        return Err(ApiError::no_key());
    };
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let challenge = header(proof::CHALLENGE).filter(|text| proof::is_nonce(text));
    let challenge = challenge.ok_or_else(|| ApiError::missing(proof::CHALLENGE))?;
    let address = header(proof::ADDRESS).ok_or_else(|| ApiError::missing(proof::ADDRESS))?;
    let published = state.inner.config.published_address;
    let is_published = published.is_some_and(|published| {
        let given = address.parse::<SocketAddr>();
        given.is_ok_and(|given| normalize(given) == normalize(published))
    });
    if !reached.has_address(address) && !is_published {
        return Err(ApiError::forbidden(
            "WRONG_ADDRESS",
            "the service does not listen on this address; use one of its addresses",
        )
        .details(
            "behind a port mapping, set `published_address` to the address that clients use",
        ));
    }
    let nonce = proof::nonce();
    let handshake = Handshake::new(key.clone(), challenge.to_owned(), nonce.clone());
    let proof = handshake.service_proof(address);
    let agreed = reached.handshake.lock();
    *agreed.unwrap_or_else(PoisonError::into_inner) = Some(handshake);
    Ok(Json(Identity { nonce, proof }))
}

/// Marks a request of a caller that has the service's key: a process of the same user on this
/// machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proved;

/// A request with a valid proof, and the data to sign its response.
pub(super) struct VerifiedRequest {
    handshake: Handshake,
    request: String,
}

/// Checks the proof of a request, if it has one. Returns the unchanged request.
///
/// # Errors
/// Returns an error if the proof is invalid, or if the body cannot be read.
pub(super) async fn check(
    request: Request,
) -> Result<(Request, Option<VerifiedRequest>), ApiError> {
    let Some(given) = request.headers().get(proof::PROOF).cloned() else {
        return Ok((request, None));
    };
    let reached = request.extensions().get::<LocalEnd>();
    let handshake = reached.and_then(LocalEnd::handshake);
    let (parts, body) = request.into_parts();
    let bytes = body::bytes(body).await?;
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let proved = handshake.and_then(|handshake| {
        let expected = handshake.request_proof(parts.method.as_str(), path, &bytes);
        let given = given.to_str().ok()?;
        proof::matches(given, &expected).then_some(VerifiedRequest {
            handshake,
            request: expected,
        })
    });
    match proved {
        Some(proved) => Ok((Request::from_parts(parts, Body::from(bytes)), Some(proved))),
        None => Err(ApiError::forbidden(
            "WRONG_PROOF",
            "invalid proof; omit it, or begin the connection with `GET /api/hooks/identity`",
        )),
    }
}

impl VerifiedRequest {
    /// Signs the response: its head and body, or only its head if the body is a stream.
    pub(super) async fn sign(self, response: Response) -> Response {
        let (mut parts, body) = response.into_parts();
        let (covered, body) = match body.size_hint().exact() {
            None => (None, body),
            Some(_) => match body.collect().await.map(|body| body.to_bytes()) {
                Ok(bytes) => (Some(bytes.clone()), Body::from(bytes)),
                // The client rejects a response without a proof.
                Err(_) => return Response::from_parts(parts, Body::empty()),
            },
        };
        let covered = covered.as_deref().unwrap_or(proof::STREAM);
        let status = parts.status.as_u16();
        let proof = self
            .handshake
            .response_proof(&self.request, status, covered);
        if let Ok(value) = HeaderValue::from_str(&proof) {
            parts.headers.insert(proof::PROOF, value);
        }
        Response::from_parts(parts, body)
    }
}
