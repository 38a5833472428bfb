//! Shared helpers of this package's tests and benches, and the pages whose Rust blocks are compiled
//! and run as doc tests: the README and the book.

mod files;
mod kit;
#[path = "../../hooks-core/tests/table/kit.rs"]
mod polling;

use std::fs;
use std::process::Command;

pub use files::{GUIDES, repository};
pub use kit::{Log, panic_of};
pub use polling::{listen, poll_once, yield_once};

/// Returns the text files that git tracks or would add, as paths from the root and their contents.
pub fn tracked_texts() -> Vec<(String, String)> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(repository())
        .output()
        .expect("git starts");
    let files = String::from_utf8(output.stdout).expect("git prints UTF-8");
    assert!(!files.is_empty(), "git lists no files");
    let texts = files.split_terminator('\0').filter_map(|file| {
        // Binary files are not UTF-8, and a deleted file may still be listed.
        let text = fs::read_to_string(repository().join(file)).ok()?;
        Some((file.to_owned(), text))
    });
    texts.collect()
}

#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../README.md")]
    mod readme {}
    #[doc = include_str!("../../docs/hook-kinds.md")]
    mod hook_kinds {}
    #[doc = include_str!("../../docs/sets.md")]
    mod sets {}
    #[doc = include_str!("../../docs/companions.md")]
    mod companions {}
    #[doc = include_str!("../../docs/typed-semantics.md")]
    mod typed_semantics {}
    #[doc = include_str!("../../docs/entries.md")]
    mod entries {}
    #[doc = include_str!("../../docs/ordering.md")]
    mod ordering {}
    #[doc = include_str!("../../docs/around.md")]
    mod around {}
    #[doc = include_str!("../../docs/policies.md")]
    mod policies {}
    #[doc = include_str!("../../docs/state.md")]
    mod state {}
    #[doc = include_str!("../../docs/mutable-arguments.md")]
    mod mutable_arguments {}
    #[doc = include_str!("../../docs/synchronous-slots.md")]
    mod synchronous_slots {}
    #[doc = include_str!("../../docs/which-signature.md")]
    mod which_signature {}
    #[doc = include_str!("../../docs/lifetimes.md")]
    mod lifetimes {}
    #[doc = include_str!("../../docs/life-of-a-dispatch.md")]
    mod life_of_a_dispatch {}
    #[doc = include_str!("../../docs/life-of-an-emission.md")]
    mod life_of_an_emission {}
    #[doc = include_str!("../../docs/generated-code.md")]
    mod generated_code {}
    #[doc = include_str!("../../docs/acting.md")]
    mod acting {}
    #[doc = include_str!("../../docs/hosts.md")]
    mod hosts {}
    #[doc = include_str!("../../docs/events.md")]
    mod events {}
    #[doc = include_str!("../../docs/events-control.md")]
    mod events_control {}
    #[doc = include_str!("../../docs/events-more.md")]
    mod events_more {}
    #[doc = include_str!("../../docs/phases.md")]
    mod phases {}
    #[doc = include_str!("../../docs/results.md")]
    mod results {}
    #[doc = include_str!("../../docs/tool-sets.md")]
    mod tool_sets {}
    #[doc = include_str!("../../docs/model-hooks.md")]
    mod model_hooks {}
    #[doc = include_str!("../../docs/model-adapters.md")]
    mod model_adapters {}
    #[doc = include_str!("../../docs/hook-engine.md")]
    mod hook_engine {}
    #[doc = include_str!("../../docs/failure.md")]
    mod failure {}
    #[doc = include_str!("../../docs/going-wrong.md")]
    mod going_wrong {}
    #[doc = include_str!("../../docs/measuring.md")]
    mod measuring {}
    #[doc = include_str!("../../docs/coming-from.md")]
    mod coming_from {}
    #[doc = include_str!("../../docs/coming-from-plugins.md")]
    mod coming_from_plugins {}
    #[doc = include_str!("../../docs/testing.md")]
    mod testing {}
    #[doc = include_str!("../../docs/testing-contract.md")]
    mod testing_contract {}
    #[doc = include_str!("../../docs/errors.md")]
    mod errors {}
}
