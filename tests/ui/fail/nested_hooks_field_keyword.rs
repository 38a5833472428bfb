use hooks_core::hooks;

#[hooks]
#[nested_hooks(type = AppSet)]
trait Outer {}

fn main() {}
