use hooks_core::hooks;
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check() -> bool { true }
}
struct Policy(std::sync::MutexGuard<'static, u8>);
impl Check for Policy {
    async fn call(&self) -> bool { true }
}

fn main() {}
