use hooks_core::{hooks, impl_hook};

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn save(document: &mut String) {
        document.push('\n');
    }
}

#[impl_hook(Save)]
async fn look(document: &String) {
    drop(document.clone());
}

fn main() {
    AppHooksSet::new()
        .with_save(Look)
        .with_save(async |document: &String| drop(document.clone()))
        .with_save(async |document: &mut Vec<u8>| document.clear());
}
