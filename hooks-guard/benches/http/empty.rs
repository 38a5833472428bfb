//! Baseline: a server whose handler only reads the request. Takes nothing; prints its address, then
//! sends empty responses.

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use tokio::net::TcpListener;

use crate::shared::LISTENS;

async fn empty(_: Bytes) -> &'static str {
    "{}"
}

/// Serves until the process is killed.
pub(crate) fn serve() -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        eprintln!("{}{address}", LISTENS);
        let router = Router::new().route("/api/hooks/permission-request", post(empty));
        axum::serve(listener, router)
            .await
            .map_err(|error| error.to_string())
    })
}
