//! Documentation, deprecation and `must_use` of a slot apply to its public items, and generated
//! code of a deprecated slot does not warn.

#![deny(warnings, missing_docs)]

use futures_executor::block_on;
use hooks_core::{hooks, impl_hook, impl_hooks};

/// Documented.
#[hooks]
pub trait AppHooks {
    /// Documented, too.
    ///
    /// With more than one line, and `code`.
    #[doc = "And an attribute."]
    #[hook(always)]
    #[must_use]
    async fn check(#[cfg_attr(all(), allow(unused_variables))] prompt: &str) -> bool {
        prompt.is_empty()
    }

    /// Documented, as it has to be.
    #[doc(alias = "old")]
    #[deprecated(since = "1.0.0", note = "use `check`")]
    #[hook(fallback)]
    #[allow(clippy::needless_return)]
    async fn validate(prompt: &str) -> bool {
        return prompt.is_empty();
    }
}

struct Policy;

#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    #[allow(unused_variables)]
    async fn check(
        &self,
        #[cfg_attr(all(), allow(unused_variables))] prompt: &str,
        last: Option<bool>,
    ) -> bool {
        true
    }
}

#[allow(deprecated)]
#[impl_hook(Validate)]
async fn accept(
    #[cfg_attr(all(), allow(unused_variables))] prompt: &str,
    _: Option<bool>,
) -> bool {
    true
}

pub(crate) fn main() {
    let set = AppHooksSet::new().with_hooks(Policy);
    assert!(block_on(set.check("prompt")));
    #[allow(deprecated)]
    let set = set.with_validate(Accept);
    #[allow(deprecated)]
    let answer = set.validate("prompt");
    assert!(block_on(answer));
}
