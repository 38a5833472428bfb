use hooks_core::hooks;

#[hooks]
trait ToolHooks {
    #[hook(always)]
    async fn check() {}
}

#[hooks]
#[nested_hooks(hooks = ToolHooksSet)]
trait AppHooks {}

fn main() {}
