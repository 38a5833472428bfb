use hooks_runtime::HookRegistry;

fn main() {
    let hooks = HookRegistry::new();
    let _ = hooks.emit("prompt:submit", "hello");
}
