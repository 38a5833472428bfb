use hooks_core::hooks;

struct Context<'a>(&'a str);

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(context: &Context) -> bool {
        context.0.is_empty()
    }
}

fn main() {}
