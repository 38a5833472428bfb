use hooks_core::hooks;

#[hooks]
#[nested_hooks(own = AppHooksSet)]
trait AppHooks {
    #[hook(always)]
    async fn check(number: u8) -> u8 {
        number
    }
}

fn main() {}
