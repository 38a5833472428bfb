//! Slots of which only one is there may have one name for their traits.

use hooks_core::hooks;

#[hooks]
trait Files {
    #[cfg(unix)]
    #[hook(always, name = Open)]
    async fn open_fd(fd: i32) -> bool {
        fd > 0
    }

    #[cfg(not(unix))]
    #[hook(always, name = Open)]
    async fn open_handle(handle: u64) -> bool {
        handle > 0
    }
}

struct Never;

#[cfg(unix)]
impl Open for Never {
    async fn call(&self, _: i32, _: Option<bool>) -> bool {
        false
    }
}

#[cfg(not(unix))]
impl Open for Never {
    async fn call(&self, _: u64, _: Option<bool>) -> bool {
        false
    }
}

pub(crate) fn main() {
    #[cfg(unix)]
    let _ = FilesSet::new().with_open_fd(Never);
}
