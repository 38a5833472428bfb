//! What all files of the bench share. In: text of a command or of a process. Out: numbers, the runtime
//! of the load, and the words by which the two processes of the bench know each other.

use std::str::FromStr;

use tokio::runtime::{Builder, Runtime};

/// The command that serves with an empty handler.
pub(crate) const SERVE_EMPTY: &str = "empty";

/// What both servers print before their address.
pub(crate) const LISTENS: &str = "listens on http://";

pub(crate) fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

/// Returns a runtime with one thread for the load, so that the other core is left to the server.
pub(crate) fn runtime() -> Result<Runtime, String> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())
}
