use hooks_core::hooks;

struct Ticket;

#[hooks]
trait AppHooks {
    #[hook(always)]
    async fn check(ticket: Ticket) -> bool {
        drop(ticket);
        true
    }
}

fn main() {}
