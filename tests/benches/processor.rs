//! The processor of the measurements: included by `#[path]`, as `page.rs` is.

use std::fs;

/// Returns the processor, as the system calls it.
pub(crate) fn name() -> String {
    fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|info| {
            let line = info.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        })
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}
