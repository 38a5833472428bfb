use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check() {}
}
struct Policy;
#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy { async fn check(&self) {} }

fn main() {
    let policy = Policy;
    let _: AppHooksSet<'static> = AppHooksSet::new().with_hooks(&policy);
}
