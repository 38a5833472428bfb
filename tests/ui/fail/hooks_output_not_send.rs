use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(fallback)]
    async fn name(prompt: &str) -> std::rc::Rc<str> {
        prompt.into()
    }
}

fn main() {}
