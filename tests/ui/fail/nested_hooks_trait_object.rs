use hooks_core::hooks;

trait App {}

#[hooks]
#[nested_hooks(app = App)]
trait Outer {}

fn main() {}
