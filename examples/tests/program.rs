//! Locates the built examples.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the path of example `name`, next to this test. Cargo builds the examples before it runs
/// all tests; if it runs only one test, this function builds them.
pub(crate) fn find(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let target = test.ancestors().nth(2).expect("a target folder");
    let program = target.join("examples").join(name);
    if !is_fresh(&program) {
        let folder = target
            .file_name()
            .and_then(OsStr::to_str)
            .unwrap_or_default();
        let profile = if folder == "debug" { "dev" } else { folder };
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", env!("CARGO_PKG_NAME")])
            .args(["--example", name, "--profile", profile])
            .args(cfg!(feature = "script").then_some("--features=script"))
            .args(cfg!(feature = "http").then_some("--features=http"))
            .arg("--target-dir")
            .args(target.parent())
            .status();
        assert!(
            built.is_ok_and(|status| status.success()),
            "the example does not build"
        );
    }
    assert!(
        program.exists(),
        "{} is missing; run `cargo build --examples`",
        program.display()
    );
    program
}

/// Returns `true` if `program` is newer than its sources, which cargo lists in a file next to it.
fn is_fresh(program: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    let sources = fs::read_to_string(program.with_extension("d")).unwrap_or_default();
    let sources = sources
        .split_once(": ")
        .map_or("", |(_, sources)| sources)
        .replace("\\ ", "\0");
    let mut sources = sources
        .split_whitespace()
        .map(|source| source.replace('\0', " "));
    changed(program).is_some_and(|built| {
        sources.all(|source| changed(Path::new(&source)).is_some_and(|changed| changed <= built))
    })
}
