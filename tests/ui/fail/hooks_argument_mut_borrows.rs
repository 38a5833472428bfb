use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(words: &mut Vec<&str>, prompt: &mut String) {
        words.clear();
        prompt.clear();
    }
}

fn main() {}
