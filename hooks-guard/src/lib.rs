//! Permission service: what would this command do?
pub mod classify;
