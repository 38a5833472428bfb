use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(waterfall, chain = hooks_core::ShortCircuit<String, ()>)]
    async fn changed(text: String) -> Result<String, ()> { Ok(text) }
}

fn main() {}
