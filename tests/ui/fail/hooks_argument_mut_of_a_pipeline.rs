use hooks_core::hooks;

struct Words;

#[hooks]
trait AppHooks {
    #[hook(fallback, custom = Words)]
    async fn check(prompt: String, count: &mut usize) -> bool {
        *count += prompt.len();
        true
    }
}

fn main() {}
