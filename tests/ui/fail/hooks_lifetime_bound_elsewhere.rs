use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(pair: (for<'a> fn(&'a u8), &'a str)) {}
}

fn main() {}
