use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn cost() -> u32 { 0 }
}
struct Free;
#[impl_hooks(AppHooksSet)]
#[impl_hooks(AppHooksSet)]
impl AppHooks for Free {
    async fn cost(&self) -> u32 { 1 }
}
fn main() {
    let _ = AppHooksSet::new().with_hooks(Free);
}
