use hooks_core::{hooks, impl_hooks};
#[hooks]
trait AppHooks {
    #[hook(always)]
    fn check(prompt: &str) -> bool { prompt.is_empty() }
}
struct Policy;
#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    fn check(&self, _: &str, last: Option<bool>) -> bool { last.unwrap() }
}
fn main() {
    assert!(AppHooksSet::new().with_hooks(Policy).check(""));
}
