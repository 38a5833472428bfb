use hooks_core::hooks;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn fill(buffer: &'static mut [u8]) {
        buffer.fill(0);
    }
}

fn main() {}
