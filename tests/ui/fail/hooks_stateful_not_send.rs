use hooks_core::hooks;
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check() -> bool { true }
}
struct Policy(std::rc::Rc<u8>);
impl StatefulCheck for Policy {
    async fn call_mut(&mut self) -> bool { true }
}

fn main() {}
