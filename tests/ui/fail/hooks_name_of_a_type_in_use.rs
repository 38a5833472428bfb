use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(singleton)]
    async fn result(number: u8) -> Result<u8, String> {
        Ok(number)
    }
}

fn main() {}
