use hooks_core::hooks;

#[hooks]
#[nested_hooks(app = "AppSet")]
trait Outer {}

fn main() {}
