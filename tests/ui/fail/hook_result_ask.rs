use hooks_runtime::HookResult;

fn main() {
    let _ = HookResult::ask("Deploy to production?");
}
