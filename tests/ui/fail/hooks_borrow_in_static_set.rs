use hooks_core::hooks;
#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn check() -> usize { 0 }
}
struct Policy<'a>(&'a str);
impl Check for Policy<'_> {
    async fn call(&self) -> usize { self.0.len() }
}

fn main() {
    let text = String::new();
    let _: AppHooksSet<'static> = AppHooksSet::new().with_check(Policy(&text));
}
