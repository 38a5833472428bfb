use hooks_core::{hooks, impl_hook};

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn save(document: &mut String) {
        document.push('\n');
    }
}

#[impl_hook(Save)]
async fn look(_document: &String) {}

fn main() {}
