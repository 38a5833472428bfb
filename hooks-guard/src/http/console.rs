//! The web console. Serves its pages and files, which call the HTTP API as the operator.
//!
//! All files are compiled into the program. Nothing is loaded from other sites: the content
//! security policy of every page allows only scripts and styles from this service, and forbids
//! embedding the page in another.

use std::sync::LazyLock;

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use sha2::{Digest, Sha256};

use super::common::no_such_path;
use super::state::AppState;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

macro_rules! assets {
    ($($kind:ident $name:literal),* $(,)?) => {
        [$(Asset {
            name: $name,
            kind: $kind,
            text: include_str!(concat!("../../console/", $name)),
        }),*]
    };
}

static ASSETS: [Asset; 32] = assets![
    HTML "index.html",
    CSS "style.css",
    SVG "icon.svg",
    JS "app.js",
    JS "answers.js",
    JS "api.js",
    JS "approval.js",
    JS "banner.js",
    JS "card.js",
    JS "command.js",
    JS "dialog.js",
    JS "diff.js",
    JS "dom.js",
    JS "escape.js",
    JS "events.js",
    JS "hooks.js",
    JS "inbox.js",
    JS "keys.js",
    JS "missing.js",
    JS "notify.js",
    JS "plot.js",
    JS "record.js",
    JS "remembered.js",
    JS "rule.js",
    JS "selection.js",
    JS "search.js",
    JS "settings.js",
    JS "statistics.js",
    JS "store.js",
    JS "time.js",
    JS "trail.js",
    JS "undo.js",
];

/// Position of the document that all pages share.
const PAGE: usize = 0;

static TAGS: LazyLock<[String; ASSETS.len()]> = LazyLock::new(|| {
    std::array::from_fn(|at| {
        let hash: [u8; 32] = Sha256::digest(ASSETS[at].text).into();
        format!("\"{}\"", hex::encode(&hash[..12]))
    })
});

/// Returns routes for the pages, which share one document, and for the files that it loads.
pub(crate) fn pages() -> Router<AppState> {
    let page = |headers: HeaderMap| async move { serve(PAGE, &headers, StatusCode::OK) };
    Router::new()
        .route("/", get(page))
        .route("/trail", get(page))
        .route("/statistics", get(page))
        .route("/hooks", get(page))
        .route("/console/{name}", get(file))
}

async fn file(Path(name): Path<String>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    match position(&name) {
        Some(at) => serve(at, &headers, StatusCode::OK),
        None => missing(method, uri, headers).await,
    }
}

/// Responds to a request for an unknown path: with a page of the console if a browser opens the
/// path, and with an API error otherwise.
pub(super) async fn missing(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let is_api = uri.path().starts_with("/api/");
    let opens = matches!(method, Method::GET | Method::HEAD) && accepts_html(&headers);
    match opens && !is_api {
        true => serve(PAGE, &headers, StatusCode::NOT_FOUND),
        false => no_such_path().await.into_response(),
    }
}

/// Returns `true` if the request names HTML as an accepted type, as browsers do when they open a
/// page.
fn accepts_html(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|types| types.to_str().ok())
        .flat_map(|types| types.split(','))
        .filter_map(|kind| kind.split(';').next())
        .any(|kind| kind.trim().eq_ignore_ascii_case("text/html"))
}

fn position(name: &str) -> Option<usize> {
    ASSETS.iter().position(|asset| asset.name == name)
}

/// Returns an asset with `status`; only `200 OK` can become `304 Not Modified`.
fn serve(at: usize, headers: &HeaderMap, status: StatusCode) -> Response {
    let tag = &TAGS[at];
    let known = headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|tags| tags.to_str().ok())
        .flat_map(|tags| tags.split(','))
        .any(|known| known.trim().trim_start_matches("W/") == tag);
    let mut response = match known && status == StatusCode::OK {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => (status, Body::from(ASSETS[at].text)).into_response(),
    };
    let fixed = [
        (header::CONTENT_TYPE, ASSETS[at].kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        // Revalidated on each request, because another version of the program has other files.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    let all = response.headers_mut();
    for (name, value) in fixed {
        all.insert(name, HeaderValue::from_static(value));
    }
    all.insert(
        "cross-origin-opener-policy",
        HeaderValue::from_static("same-origin"),
    );
    all.insert(
        "cross-origin-resource-policy",
        HeaderValue::from_static("same-origin"),
    );
    if status == StatusCode::OK
        && let Ok(tag) = HeaderValue::from_str(tag)
    {
        all.insert(header::ETAG, tag);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::ASSETS;

    #[test]
    fn every_file_of_the_console_is_served() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/console");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("a name")
            })
            .collect();
        let mut served: Vec<&str> = ASSETS.iter().map(|asset| asset.name).collect();
        there.sort_unstable();
        served.sort_unstable();
        assert_eq!(there, served);
    }

    #[test]
    fn console_files_write_no_markup_and_load_no_external_resources() {
        for asset in &ASSETS {
            for bad in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "new Function",
                "https://",
                "style=\"",
                "onclick=",
            ] {
                assert!(!asset.text.contains(bad), "`{bad}` in {}", asset.name);
            }
            // The only external address is an XML namespace.
            let addresses = asset.text.matches("http://").count();
            let names = asset.text.matches("http://www.w3.org/").count();
            assert_eq!(addresses, names, "{}", asset.name);
        }
    }
}
