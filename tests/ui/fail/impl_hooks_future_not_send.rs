use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks { #[hook(singleton)] async fn check() {} }
struct Policy;

#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn check(&self) {
        let _held = std::rc::Rc::new(());
        std::future::ready(()).await;
    }
}

fn main() {}
