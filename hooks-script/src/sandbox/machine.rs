//! Operations that the compiler cannot check: running machine code, write-protecting memory, and
//! prefetching it. This is the only module of the crate with `unsafe` code.

use std::sync::OnceLock;

use wasmtime::{Engine, Module};

use crate::error::BuildError;
use hooks_script_engine::{IMAGE, config};

/// Returns the process-wide engine with QuickJS, loaded on first use.
pub(crate) fn module() -> Result<&'static (Engine, Module), BuildError> {
    static LOADED: OnceLock<Result<(Engine, Module), String>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| {
        let load = || {
            let engine = Engine::new(&config())?;
            let module = deserialize(&engine)?;
            Ok((engine, module))
        };
        load().map_err(|error: wasmtime::Error| loading_error(&error))
    });
    loaded
        .as_ref()
        .map_err(|text| BuildError::Engine(text.clone()))
}

/// Describes a loading error, with a remedy if the system forbids this process to run machine code.
fn loading_error(error: &wasmtime::Error) -> String {
    #[cfg(target_os = "linux")]
    if error
        .chain()
        .any(|cause| cause.downcast_ref() == Some(&rustix::io::Errno::ACCESS))
    {
        return format!(
            "{error:#}; let this process make memory executable, in a unit of systemd with \
             `MemoryDenyWriteExecute=no`"
        );
    }
    format!("{error:#}")
}

#[allow(
    unsafe_code,
    reason = "the machine code comes from the build of `hooks-script-engine`, not from a file or a cache"
)]
fn deserialize(engine: &Engine) -> wasmtime::Result<Module> {
    // SAFETY: `Module::deserialize` requires unchanged bytes from `precompile_module`.
    // `IMAGE` is part of this program's binary; the build of `hooks-script-engine` made it, with
    // the same version of wasmtime (one requirement, one lock file) and the same settings
    // (`config`, shared). Version, settings and processor are checked once more here.
    unsafe { Module::deserialize(engine, IMAGE) }
}

/// Returns the page size for memory protection in bytes. `None` if this crate does not support
/// protection on this machine, or if a write fault would kill this thread.
pub(super) fn page() -> Option<usize> {
    #[cfg(target_os = "linux")]
    return handles_faults().then(rustix::param::page_size);
    #[cfg(not(target_os = "linux"))]
    None
}

/// Returns `true` if wasmtime receives faults of this thread. A thread that blocks the signal,
/// which threads inherit, is killed by a fault.
#[cfg(target_os = "linux")]
fn handles_faults() -> bool {
    const SIGSEGV: u32 = 11;
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    let blocked = blocked.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    blocked.is_some_and(|blocked| blocked >> (SIGSEGV - 1) & 1 == 0)
}

/// Makes these bytes writable or read-only. A script that writes to read-only pages traps; a write
/// by the host would end the process. So only the [`Fence`](super::fence::Fence) of a
/// [`InstanceMemory`](super::memory::InstanceMemory) calls this, and all host writes go through the `InstanceMemory`.
///
/// # Panics
/// Panics if the bytes are not whole pages of the machine.
#[cfg_attr(
    target_os = "linux",
    allow(unsafe_code, reason = "the memory is that of one instance")
)]
#[cfg_attr(
    not(target_os = "linux"),
    expect(unused_variables, reason = "memory protection is not supported here")
)]
pub(super) fn make_writable(bytes: &mut [u8], writable: bool) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{MprotectFlags, mprotect};

        let page = rustix::param::page_size();
        let place = bytes.as_ptr().addr();
        assert!(place.is_multiple_of(page) && bytes.len().is_multiple_of(page));
        let mut may = MprotectFlags::READ;
        may.set(MprotectFlags::WRITE, writable);
        // SAFETY: the bytes are borrowed exclusively, and their values do not change. They belong
        // to the memory of an instance, which is mapped for it alone, in whole pages with nothing
        // else on them. Its owner, wasmtime, accesses them only through compiled code, whose faults
        // it converts to traps, and through borrows such as this one.
        unsafe { mprotect(bytes.as_mut_ptr().cast(), bytes.len(), may)? };
        Ok(())
    }
    #[cfg(not(target_os = "linux"))]
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Prefetches a cache line, on processors for which this crate knows the instruction.
#[cfg_attr(
    target_arch = "x86_64",
    allow(unsafe_code, reason = "a prefetch is a hint without effects")
)]
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(unused_variables, reason = "prefetching is not supported here")
)]
pub(super) fn fetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        // SAFETY: a prefetch has no visible effect and cannot fault; all processors of this
        // architecture support it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
}
