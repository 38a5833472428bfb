//! The description of the service for programs.

use axum::Json;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{License, OpenApi};
use utoipa::{Modify, OpenApi as _};

/// The document, in OpenAPI 3.1 (P-46).
#[must_use]
pub fn document() -> OpenApi {
    Document::openapi()
}

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "hooks-guard",
        description = "Permission service for coding agents: what would a command do, and may it?"
    ),
    paths(
        super::permission::request,
        super::respond::respond,
        super::decisions::list,
        super::decisions::one,
        super::decisions::executed,
        super::decisions::redeem,
        super::decisions::pending,
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
        super::metrics::served,
    ),
    modifiers(&Details)
)]
struct Document;

struct Details;

impl Modify for Details {
    fn modify(&self, document: &mut OpenApi) {
        // Of the interface, not of the program (P-46).
        document.info.version = "1.0.0".to_owned();
        document.info.license = Some(License::new("MIT OR Apache-2.0"));
        document.info.contact = None;
        let paths = document.paths.paths.values_mut();
        for operation in paths.flat_map(|path| {
            [&mut path.get, &mut path.post, &mut path.delete]
                .into_iter()
                .flatten()
        }) {
            // Names of modules are no tags.
            operation.tags = None;
        }
        let components = document.components.get_or_insert_default();
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("operator", scheme);
    }
}

pub(crate) async fn served() -> Json<OpenApi> {
    Json(document())
}
