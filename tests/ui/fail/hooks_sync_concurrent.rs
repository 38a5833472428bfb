use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, sync, concurrent)]
    fn started(_prompt: &str) {}
}

fn main() {}
