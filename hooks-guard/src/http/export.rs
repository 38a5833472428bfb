//! `GET /api/hooks/export`. Takes a filter and a format; returns the trail as JSON lines or CSV.

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};

use super::error::{ApiError, RequestId};
use super::query::Query;
use super::state::AppState;
use crate::audit::export;
use crate::log_limit;

#[derive(Clone, Copy)]
enum ExportFormat {
    Csv,
    Jsonl,
}

/// Exports the records that match the filters, oldest first, as a file. Few records are in memory
/// at a time.
///
/// A cell that a spreadsheet would evaluate gets a leading apostrophe. If reading fails in the
/// middle, the connection is cut, so that a partial file is not mistaken for a complete one.
#[utoipa::path(
    get,
    path = "/api/hooks/export",
    params(
        ("format" = Option<String>, Query, pattern = "^(csv|jsonl)$", description = "`csv` or `jsonl`. Default: `csv`"),
        super::query::FilterParameters,
    ),
    responses(
        (status = 200, description = "The file", content((String = "text/csv"), (String = "application/jsonl"))),
        (status = 400, description = "INVALID_FILTER, INVALID_DATE", body = super::error::ErrorBody),
        (status = 503, description = "BUSY: too many concurrent reads", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn export(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    let formats = [ExportFormat::Csv, ExportFormat::Jsonl];
    let format = query.choice("format", &formats, &["csv", "jsonl"])?;
    let format = format.unwrap_or(ExportFormat::Csv);
    let records = state.audit(&headers).export(&query.filter()?);
    let place = state.export(&headers)?;
    let lines = records.map(move |record| match record {
        Ok(record) => Ok(match format {
            ExportFormat::Csv => export::csv(&record),
            ExportFormat::Jsonl => export::jsonl(&record),
        }),
        Err(error) => {
            if let Some(suppressed) = log_limit::suppressed("cut off an export", &error) {
                tracing::error!(request_id = id.0, %error, suppressed, "cut off an export");
            }
            Err(error)
        }
    });
    let head = match format {
        ExportFormat::Csv => export::csv_header(),
        ExportFormat::Jsonl => String::new(),
    };
    let (kind, disposition) = match format {
        ExportFormat::Csv => (
            "text/csv; charset=utf-8",
            "attachment; filename=\"decisions.csv\"",
        ),
        ExportFormat::Jsonl => (
            "application/jsonl; charset=utf-8",
            "attachment; filename=\"decisions.jsonl\"",
        ),
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_DISPOSITION, disposition),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let whole = stream::iter([Ok(head)]).chain(lines).map(move |line| {
        // Released at the end of the export.
        let _place = &place;
        line
    });
    Ok((headers, Body::from_stream(whole)).into_response())
}
