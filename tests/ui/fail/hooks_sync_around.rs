use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, sync, around)]
    fn started(_prompt: &str) {}
}

fn main() {}
