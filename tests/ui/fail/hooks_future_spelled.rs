use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    fn check(number: u8) -> impl Future<Output = u8> {
        async move { number }
    }
}

fn main() {}
