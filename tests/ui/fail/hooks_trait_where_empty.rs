use hooks_core::hooks;

#[hooks]
trait AppHooks where {}

fn main() {}
