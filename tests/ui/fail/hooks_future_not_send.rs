use hooks_core::hooks;
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check() {}
}
struct Policy;
impl Check for Policy {
    async fn call(&self) {
        let _held = std::rc::Rc::new(());
        std::future::ready(()).await;
    }
}

fn main() {}
