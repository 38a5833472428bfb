use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn longest(call: for<'a> fn(&'a str), prompt: &str) -> &'a str { call(prompt) }
}

fn main() {}
