use hooks_core::impl_hook;

#[impl_hook(RunHooks)]
async fn nothing() {}

fn main() {}
