use hooks_core::hooks;

#[hooks]
#[nested_hooks(app = AppSet::new())]
trait Outer {}

fn main() {}
