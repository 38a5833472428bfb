//! Builds of programs outside of the repository's workspace, which share its artifacts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::files::repository;

/// Returns a command in this folder. `cargo` runs without network.
pub(crate) fn command(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target())
        .env("CARGO_NET_OFFLINE", "true")
        // Variables that cargo sets for this test are not set for a reader.
        .env_remove("CARGO_MANIFEST_DIR");
    command
}

/// Returns the profiles and the replaced crate of the repository, so that a build reuses its
/// artifacts.
pub(crate) fn profiles() -> String {
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).expect("the manifest");
    let from = manifest.find("[profile.").expect("a profile");
    let insta = repository().join("contrib/insta");
    let patch = format!("[patch.crates-io]\ninsta = {{ path = {insta:?} }}\n\n");
    // The pages choose the features of `tokio`, so its artifacts are not reused: it is not optimised.
    let profiles = manifest[from..].replace("tokio = { opt-level = 1 }\n", "");
    patch + &profiles
}

/// Returns the target folder of this package's tests.
pub(crate) fn target() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    let folder = test
        .ancestors()
        .find(|folder| folder.ends_with("debug") || folder.ends_with("release"));
    let target = folder.and_then(Path::parent);
    target
        .expect("cargo builds tests into a folder of its own")
        .to_owned()
}
