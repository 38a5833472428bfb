use hooks_core::hooks;

#[hooks]
#[nested_hooks()]
trait Outer {}

fn main() {}
