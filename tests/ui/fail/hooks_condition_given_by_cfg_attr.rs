use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[cfg_attr(unix, cfg(not(unix)))]
    #[hook(always)]
    async fn check() {}
}

fn main() {}
