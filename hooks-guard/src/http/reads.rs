//! Responses with many records. Takes ids of records and the permit of the read; returns a response
//! that reads a few records at a time while it is sent.
//!
//! The database has few connections for readers. Bulk reads of clients share some of them and
//! queue; the others stay free for decisions. The operator's reads use reserved connections and do
//! not queue. Only a few records of each response are in memory, so that slow clients cannot fill
//! it.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use serde::Serialize;
use tokio::sync::Semaphore;

use super::bulk_reads::BulkReadPermit;
use super::common::failed;
use super::error::{ApiError, RequestId};
use super::state::AppState;
use crate::audit::{AuditError, AuditRecord, AuditStore};
use crate::proof;
use crate::service::PermissionService;

/// Number of records in memory at a time, for a response that is sent in parts.
const RECORDS_PER_PART: usize = 8;
/// Maximum number of records of a response that is sent as a whole, except for the operator.
const MAX_WHOLE_RECORDS: usize = 100;

impl AppState {
    /// Waits for the permit of a bulk read. The operator needs none.
    pub(crate) async fn turn(&self, headers: &HeaderMap) -> Result<BulkReadPermit, ApiError> {
        match self.is_operator(headers) {
            true => Ok(None),
            false => self.inner.reads.turn().await.map(Some),
        }
    }

    /// Returns the handle to the trail for the sender of a request.
    pub(crate) fn audit(&self, headers: &HeaderMap) -> &AuditStore {
        match self.is_operator(headers) {
            true => self.service().reserved_audit(),
            false => self.service().audit(),
        }
    }

    /// Returns the permit of an export, to be held until its end. The operator needs none.
    pub(crate) fn export(&self, headers: &HeaderMap) -> Result<BulkReadPermit, ApiError> {
        let place = || Arc::clone(&self.inner.reads.exports).try_acquire_owned();
        match self.is_operator(headers) {
            true => Ok(None),
            false => place().map(Some).map_err(|_| ApiError::busy()),
        }
    }

    /// Returns the permit of a response that is sent as a whole; `None` if there is none at the
    /// moment. Clients with a proof have separate permits.
    pub(crate) fn place(&self, headers: &HeaderMap) -> Option<BulkReadPermit> {
        let reads = &self.inner.reads;
        let of = |places: &Arc<Semaphore>| Arc::clone(places).try_acquire_owned().ok().map(Some);
        match self.is_operator(headers) {
            true => Some(None),
            false if is_proved(headers) => of(&reads.proved).or_else(|| of(&reads.whole)),
            false => of(&reads.whole),
        }
    }

    /// Returns `true` if the operator sent the request, with the token or from a browser session.
    pub(crate) fn is_operator(&self, headers: &HeaderMap) -> bool {
        self.inner.operator.check(headers).is_ok()
    }
}

/// Returns `true` if the request has a proof. Invalid proofs were rejected before.
fn is_proved(headers: &HeaderMap) -> bool {
    headers.contains_key(proof::PROOF)
}

/// Reads records by id, in the order of the ids and a few at a time. Records that were deleted
/// meanwhile are left out.
struct Records {
    audit: AuditStore,
    service: PermissionService,
    turns: Arc<Semaphore>,
    ids: std::vec::IntoIter<i64>,
    is_operator: bool,
}

/// Returns how many records of a request are read at a time.
pub(crate) fn together(state: &AppState, headers: &HeaderMap) -> usize {
    match state.is_operator(headers) {
        true => MAX_WHOLE_RECORDS,
        false => RECORDS_PER_PART,
    }
}

/// Returns records by id, in this order, after waiting for the permit of the request.
pub(crate) async fn several(
    state: &AppState,
    headers: &HeaderMap,
    ids: Vec<i64>,
) -> Result<Vec<AuditRecord>, AuditError> {
    let records = Records::new(state, headers, ids).next().await?;
    Ok(records.unwrap_or_default())
}

impl Records {
    fn new(state: &AppState, headers: &HeaderMap, ids: Vec<i64>) -> Self {
        Self {
            audit: state.audit(headers).clone(),
            service: state.service().clone(),
            turns: Arc::clone(&state.inner.reads.turns),
            ids: ids.into_iter(),
            is_operator: state.is_operator(headers),
        }
    }

    /// Returns the next records; `None` after the last.
    async fn next(&mut self) -> Result<Option<Vec<AuditRecord>>, AuditError> {
        // The operator's records are all in memory anyway; a single read needs a connection only
        // once.
        let together = if self.is_operator {
            usize::MAX
        } else {
            RECORDS_PER_PART
        };
        let ids: Vec<i64> = self.ids.by_ref().take(together).collect();
        if ids.is_empty() {
            return Ok(None);
        }
        let turns = Arc::clone(&self.turns);
        let _turn = match self.is_operator {
            true => None,
            // A response that has begun waits for a permit instead of failing.
            false => turns.acquire_owned().await.ok(),
        };
        let mut records = self.audit.decisions_by_ids(&ids).await?;
        records.sort_by_key(|record| ids.iter().position(|id| *id == record.id));
        for record in &mut records {
            self.service.add_changes(record);
        }
        Ok(Some(records))
    }
}

/// Returns a JSON object with the records of these ids in the field `name`, and with the other
/// fields from `rest`. The response is sent as a whole if it is short, and to the operator and
/// clients with a proof; otherwise in parts.
///
/// If reading fails in the middle, the connection is cut.
pub(crate) async fn list<T: Serialize>(
    state: &AppState,
    id: &RequestId,
    headers: &HeaderMap,
    name: &'static str,
    ids: Vec<i64>,
    rest: &T,
) -> Result<Response, ApiError> {
    let rest = serde_json::to_string(rest).map_err(|error| failed(id, &error))?;
    // The remaining fields of the object, with its closing bracket.
    let rest = rest.strip_prefix('{').unwrap_or("}");
    let end = match rest {
        "}" => "]}".to_owned(),
        rest => format!("],{rest}"),
    };
    let is_short = ids.len() <= MAX_WHOLE_RECORDS;
    let whole = match is_short || is_proved(headers) || state.is_operator(headers) {
        true => state.place(headers),
        false => None,
    };
    if whole.is_none() && is_proved(headers) {
        return Err(ApiError::busy());
    }
    let mut parts = RecordStream {
        records: Records::new(state, headers, ids),
        is_first: true,
        end: Some(end),
    };
    let kind = [(header::CONTENT_TYPE, "application/json")];
    let mut text = format!("{{\"{name}\":[");
    if let Some(place) = whole {
        while let Some(part) = parts.next().await.map_err(|error| failed(id, &error))? {
            text.push_str(&part);
        }
        return Ok(self::whole(text, place));
    }
    // A read error can be reported as long as nothing was sent.
    let first = parts.next().await.map_err(|error| failed(id, &error))?;
    text.push_str(&first.unwrap_or_default());
    let id = id.clone();
    let rest = stream::try_unfold(parts, move |mut parts| {
        let id = id.clone();
        async move {
            match parts.next().await {
                Ok(part) => Ok(part.map(|part| (part, parts))),
                Err(error) => {
                    tracing::error!(request_id = id.0, %error, "cut off a list");
                    Err(error)
                }
            }
        }
    });
    let body = stream::iter([Ok(text)]).chain(rest);
    Ok((kind, Body::from_stream(body)).into_response())
}

/// Returns a JSON response that is sent as a whole and holds its permit until then.
pub(crate) fn whole(text: String, place: BulkReadPermit) -> Response {
    let body = Bytes::from_owner(WholeBody {
        text,
        _permit: place,
    });
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, Body::from(body)).into_response()
}

/// Body of a response that is sent as a whole, with its permit.
struct WholeBody {
    text: String,
    _permit: BulkReadPermit,
}

impl AsRef<[u8]> for WholeBody {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

/// Text of a list after its opening bracket, a few records at a time.
struct RecordStream {
    records: Records,
    is_first: bool,
    /// Text after the records.
    end: Option<String>,
}

impl RecordStream {
    async fn next(&mut self) -> Result<Option<String>, AuditError> {
        let Some(records) = self.records.next().await? else {
            return Ok(self.end.take());
        };
        let mut text = String::new();
        for record in &records {
            if !std::mem::replace(&mut self.is_first, false) {
                text.push(',');
            }
            // Cannot fail: all keys of a record are strings.
            text.push_str(&serde_json::to_string(record).unwrap_or_default());
        }
        Ok(Some(text))
    }
}

impl ApiError {
    /// Too many bulk reads are running.
    pub(crate) fn busy() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "BUSY",
            "too many concurrent reads of the audit trail",
        )
        .retry_after(1)
    }
}
