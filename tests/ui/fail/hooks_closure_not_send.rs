use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check() -> u8 { 1 }
}

fn main() {
    let count = std::rc::Rc::new(1);
    let _ = AppHooksSet::new().with_check(move || std::future::ready(*count));
}
