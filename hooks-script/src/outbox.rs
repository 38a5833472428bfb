//! Outbound requests of hooks after an action. A run leaves them in its outbox; the host decides
//! whether to send them.

pub(crate) mod request;
#[cfg(feature = "fetch")]
pub(crate) mod send;
