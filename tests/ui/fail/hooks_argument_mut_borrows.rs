use hooks_core::hooks;

struct Context<'a>(&'a str);

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(context: &mut Context<'_>, list: &mut Vec<&str>) {
        context.0 = "";
        list.clear();
    }
}

fn main() {}
