#[hooks_core::hooks]
trait Texts {
    #[hook(always)]
    async fn string(id: u32) -> u32 {
        id
    }
}

fn main() {}
