use hooks_core::hooks;

#[hooks]
struct AppHooks {
    check: bool,
}

fn main() {}
