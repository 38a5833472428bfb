use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always, concurrent)]
    async fn check(prompt: &str, count: &mut usize) {
        *count += prompt.len();
    }
}

fn main() {}
