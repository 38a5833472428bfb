use hooks_core::hooks;

#[hooks]
trait AppHooks: Clone {
    const LIMIT: usize = 1;
    #[hook(singleton, output = u8)]
    async fn check<T>(&self, prompt: &mut &str) -> bool {
        prompt.is_empty()
    }
    #[hook(choice)]
    fn choose(last: u8) -> u8 {
        last
    }
}
fn main() {}
