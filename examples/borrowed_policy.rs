//! Can a hook borrow data of the application?
//!
//! Yes. A set lives at most as long as the data that its hooks borrow. Nothing is cloned,
//! reference-counted or `'static`.

use std::collections::BTreeSet;

use hooks_core::{hooks, impl_hooks};

#[hooks]
trait MailHooks {
    /// Returns `true` if mail to `address` is sent.
    #[hook(always)]
    async fn may_send(address: &str) -> bool {
        address.contains('@')
    }
}

/// Refuses the addresses of a list that the application owns.
struct Blocklist<'a> {
    blocked: &'a BTreeSet<String>,
}

#[impl_hooks(MailHooksSet)]
impl<'a> MailHooks for Blocklist<'a> {
    async fn may_send(&self, address: &str, last: Option<bool>) -> bool {
        last.unwrap_or(true) && !self.blocked.contains(address)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let blocked = BTreeSet::from(["eve@example.org".to_owned()]);
    let policy = Blocklist { blocked: &blocked };

    // The set borrows the policy, which borrows the list.
    let hooks = MailHooksSet::new().with_hooks(&policy);

    for (address, expected) in [
        ("ann@example.org", true),
        ("eve@example.org", false),
        ("nobody", false),
    ] {
        let may_send = hooks.may_send(address).await;
        println!("{address}: {}", if may_send { "sent" } else { "refused" });
        assert_eq!(may_send, expected);
    }

    // The application still owns the list.
    assert_eq!(blocked.len(), 1);
}
