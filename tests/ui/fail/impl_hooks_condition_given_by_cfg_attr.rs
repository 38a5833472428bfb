use hooks_core::{hooks, impl_hooks};

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check() {}
}
struct Policy;
#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    #[cfg_attr(unix, cfg(not(unix)))]
    async fn check(&self) {}
}

fn main() {}
