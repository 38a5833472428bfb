//! Where scripts run: QuickJS as WebAssembly, in an instance that a worker keeps and resets.

pub(crate) mod config;
mod image;
mod instance;
mod pool;
mod result;
mod watch;

pub(crate) use image::module;
pub(crate) use instance::{Allowance, Given, Sandbox, Snapshot, hex};
pub(crate) use pool::{Load, Pool, Start};
pub(crate) use result::{Ended, Report, Said, Status};
pub(crate) use watch::watch;
