use hooks_core::hooks;

#[hooks]
trait Inner {}

#[hooks]
#[nested_hooks(inner = InnerSet<'h>)]
trait Outer {}

fn main() {}
