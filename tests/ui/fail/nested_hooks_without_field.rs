use hooks_core::hooks;

#[hooks]
#[nested_hooks(AppSet)]
trait Outer {}

fn main() {}
