//! OpenAPI description of the service. Takes the handlers; returns the OpenAPI document.

use axum::Json;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Content, License, OpenApi, Ref, RefOr, Response};
use utoipa::{Modify, OpenApi as _};

/// Returns the OpenAPI 3.1 document.
#[must_use]
pub fn document() -> OpenApi {
    ApiDocument::openapi()
}

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "hooks-guard",
        description = "Permission service for coding agents: classifies commands and asks for approval"
    ),
    paths(
        super::identity::identity,
        super::permission::request,
        super::agent_hook::hook,
        super::respond::respond,
        super::respond::withdraw,
        super::decisions::list,
        super::decisions::one,
        super::decisions::executed,
        super::decisions::redeem,
        super::rule::propose,
        super::changes::read,
        super::changes::attach,
        super::pending::list,
        super::pending::deny,
        super::events::events,
        super::remembered::list,
        super::remembered::revoke,
        super::session::state,
        super::session::begin,
        super::session::end,
        super::stats::stats,
        super::stats::series,
        super::export::export,
        super::registered::registered,
        super::cleanup::cleanup,
        super::health::health,
        super::scrape::served,
    ),
    modifiers(&Details)
)]
struct ApiDocument;

/// Errors of every operation.
const ANY: [(&str, &str); 2] = [
    ("403", "FORBIDDEN_HOST, FORBIDDEN_ORIGIN, WRONG_PROOF"),
    ("500", "INTERNAL_ERROR, DB_ERROR"),
];

/// Errors of operations with a request body.
const BODY: [(&str, &str); 2] = [("408", "BODY_TOO_SLOW"), ("413", "BODY_TOO_LARGE")];

struct Details;

impl Modify for Details {
    fn modify(&self, document: &mut OpenApi) {
        // Version of the API, not of the program.
        document.info.version = "1.0.0".to_owned();
        document.info.license = Some(License::new("MIT OR Apache-2.0"));
        document.info.contact = None;
        let paths = document.paths.paths.values_mut();
        for operation in paths.flat_map(|path| {
            [&mut path.get, &mut path.post, &mut path.delete]
                .into_iter()
                .flatten()
        }) {
            // Remove the module names that utoipa uses as tags.
            operation.tags = None;
            let body = operation.request_body.is_some();
            for (status, codes) in ANY.into_iter().chain(BODY.into_iter().filter(|_| body)) {
                refuse(operation, status, codes);
            }
        }
        let components = document.components.get_or_insert_default();
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("operator", scheme.clone());
        components.add_security_scheme("agent", scheme);
    }
}

/// Adds error codes to the response of an operation with a status.
fn refuse(operation: &mut Operation, status: &str, codes: &str) {
    let responses = &mut operation.responses.responses;
    if let Some(RefOr::T(response)) = responses.get_mut(status) {
        for code in codes.split(", ") {
            if !response.description.contains(code) {
                response.description += &format!(", {code}");
            }
        }
        return;
    }
    let mut response = Response::new(codes);
    let error = Content::new(Some(Ref::from_schema_name("ErrorBody")));
    response
        .content
        .insert("application/json".to_owned(), RefOr::T(error));
    responses.insert(status.to_owned(), response.into());
}

pub(crate) async fn served() -> Json<OpenApi> {
    Json(document())
}
