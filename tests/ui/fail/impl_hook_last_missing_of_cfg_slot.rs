use hooks_core::{hooks, impl_hook};
#[hooks]
trait AppHooks {
    #[cfg(not(target_os = "none"))]
    #[hook(fallback)]
    async fn price(item: u8, count: usize) -> Result<(u8,), Box<dyn Fn(u8) -> u8 + Send>> { Ok((item.max(count as u8),)) }
}

#[impl_hook(Price)]
async fn free(_: u8, _: usize) -> Result<(u8,), Box<dyn Fn(u8) -> u8 + Send>> { Ok((0,)) }

fn main() {
    let _ = AppHooksSet::new().with_price(Free);
}
