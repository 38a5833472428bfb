use hooks_core::hooks;

#[hooks]
async fn check(prompt: &str) -> bool {
    prompt.is_empty()
}

fn main() {}
