//! Attempts to bypass `scope-enforcement`: gaps of the ignore file, folders, links.

use futures::executor::block_on;
use hooks_runtime::engine::Intent;
use hooks_runtime::{ResponseAction, ToolRequest};

use super::{Bench, assert_denied, write};

const PROTECTED: &str = "Protected by .intentignore";

/// Returns a workspace in which `REQ-9` owns everything.
fn open() -> Bench {
    Bench::with(|builder| builder.intents([Intent::new("REQ-9").owns("**")])).ready()
}

/// Asserts the reason of a denial for the intent that owns everything.
fn assert_refused(bench: &Bench, path: &str, reason: &str) {
    let denied = block_on(bench.ask(&write(path).intent("REQ-9")));
    assert_denied(&denied, ResponseAction::Deny, reason);
}

fn assert_open(bench: &Bench, path: &str) {
    let response = block_on(bench.ask(&write(path).intent("REQ-9")));
    assert!(response.is_continue(), "{path}: {response:?}");
}

#[test]
fn r_28_a_negated_pattern_does_not_reinclude_files_of_an_ignored_folder() {
    let bench = open();
    bench.put(".intentignore", "secrets/\n!README.md\n*.key\n!open.key\n");
    for path in ["secrets/README.md", "a/secrets/b/README.md", "a.key"] {
        assert_refused(&bench, path, PROTECTED);
    }
    for path in ["README.md", "docs/open.key"] {
        assert_open(&bench, path);
    }
}

#[test]
fn r_28_a_byte_order_mark_in_the_ignore_file_is_skipped() {
    let bench = open();
    bench.put(".intentignore", "\u{feff}secrets/\n");
    assert_refused(&bench, "secrets/a", PROTECTED);
    assert_open(&bench, "docs/a");
}

#[cfg(unix)]
#[test]
fn r_28_a_dangling_ignore_file_protects_everything() {
    let bench = open();
    assert_open(&bench, "docs/a");
    std::os::unix::fs::symlink("moved", bench.path(".intentignore")).unwrap();
    assert_refused(&bench, "docs/a", PROTECTED);
    bench.put("moved", "secrets/\n");
    assert_open(&bench, "docs/b");
}

#[cfg(unix)]
#[tokio::test]
async fn r_28_a_fifo_as_ignore_file_protects_everything() {
    let bench = open();
    fifo(&bench.path(".intentignore"));
    let denied = bench.ask(&write("docs/a").intent("REQ-9")).await;
    assert_denied(&denied, ResponseAction::Deny, PROTECTED);
}

/// Creates a pipe: opening it for reading blocks until a writer opens it.
#[cfg(unix)]
pub(super) fn fifo(path: &std::path::Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.expect("it is part of every unix").success());
}

#[test]
fn r_28_a_call_on_a_whole_folder_is_denied() {
    let bench = Bench::with(|builder| {
        builder.intents([
            Intent::new("REQ-8").owns("src/keys/**"),
            Intent::new("REQ-9").owns("**"),
        ])
    })
    .ready();
    bench.put(".intentignore", "/vault/\n*.pem\n");
    for folder in ["src/keys", "vault", "docs"] {
        std::fs::create_dir(bench.path(folder)).unwrap();
    }
    bench.put("src/keys/a", "foreign");
    bench.put("docs/a.pem", "ignored");
    for folder in ["src", "docs", "./docs/"] {
        assert_refused(&bench, folder, "Scope Violation");
    }
    assert_refused(&bench, "vault", PROTECTED);
    assert_open(&bench, "docs/b");
}

#[test]
fn r_28_a_denied_folder_contains_a_recovery_hint() {
    let bench = open();
    let delete = ToolRequest::new("delete_file").param("path", "src");
    let denied = block_on(bench.ask(&delete.intent("REQ-9")));
    assert!(denied.details.unwrap().contains("folder"));
    assert!(denied.recovery_hint.unwrap().contains("each file"));
}

#[cfg(unix)]
#[test]
fn r_28_a_link_needs_ownership_of_its_path_and_its_target() {
    use std::os::unix::fs::symlink;

    let bench = Bench::with(|builder| {
        builder.intents([
            Intent::new("REQ-2").owns("vault/**"),
            Intent::new("REQ-3").owns("src/shared/*"),
        ])
    })
    .ready();
    for folder in ["vault", "src/shared"] {
        std::fs::create_dir(bench.path(folder)).unwrap();
    }
    bench.put("src/a", "own");
    symlink("../src/a", bench.path("vault/link")).unwrap();
    symlink("../a", bench.path("src/shared/link")).unwrap();
    symlink("a", bench.path("src/link")).unwrap();
    for (path, reason) in [
        ("vault/link", "Scope Violation"),
        ("src/shared/link", "File Ownership Contention"),
    ] {
        let denied = block_on(bench.ask(&write(path)));
        assert_denied(&denied, ResponseAction::Deny, reason);
    }
    assert!(block_on(bench.ask(&write("src/link"))).is_continue());
}
