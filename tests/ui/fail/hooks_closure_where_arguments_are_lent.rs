#[hooks_core::hooks]
trait Hosts {
    #[hook(fallback)]
    async fn tenant(host: Option<&str>) -> u32 {
        host.map_or(0, |_| 1)
    }
}

fn main() {
    let _ = HostsSet::new().with_tenant(async |_: Option<&str>, _: Option<u32>| 2);
}
