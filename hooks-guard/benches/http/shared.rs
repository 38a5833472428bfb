//! Helpers of the bench: parsing of numbers, the runtime of the load, and the words that the two
//! processes exchange.

use std::str::FromStr;

use tokio::runtime::{Builder, Runtime};

/// Argument that starts the server with an empty handler.
pub(crate) const SERVE_EMPTY: &str = "empty";

/// Text that both servers print before their address.
pub(crate) const LISTENS: &str = "listens on http://";

pub(crate) fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a number"))
}

/// Returns a single-threaded runtime for the load, so that the other core is free for the server.
pub(crate) fn runtime() -> Result<Runtime, String> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())
}
