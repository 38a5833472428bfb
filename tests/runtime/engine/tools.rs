//! Files that a call names in any of its parameters.

use futures::executor::block_on;
use hooks_runtime::{HookResponse, ResponseAction, ToolRequest};
use serde_json::{Value, json};

use super::{Bench, assert_denied};

fn ask(tool: &str, params: Value) -> HookResponse {
    let bench = Bench::new().ready();
    let Value::Object(params) = params else {
        panic!("parameters are an object")
    };
    let request = ToolRequest::new(tool).params(params).intent("REQ-1");
    block_on(bench.ask(&request))
}

fn assert_refused(tool: &str, params: Value) {
    let denied = ask(tool, params);
    assert_denied(&denied, ResponseAction::Deny, "Scope Violation");
}

fn assert_passes(tool: &str, params: Value) {
    let response = ask(tool, params);
    assert!(response.is_continue(), "{response:?}");
}

#[test]
fn r_28_all_path_parameters_are_checked() {
    let both = |path: &str, other: &str| json!({"files": [{"path": path, "file_path": other}]});
    assert_passes("apply_diff", both("src/a", "src/b"));
    assert_refused("apply_diff", both("src/a", "vault/key"));
    assert_refused("apply_diff", both("vault/key", "src/a"));
    assert_refused(
        "apply_diff",
        json!({"files": [{"path": "src/a", "file_path": 7}]}),
    );
    assert_refused("edit", json!({"path": "src/a", "file_path": "vault/key"}));
}

#[test]
fn r_28_all_files_in_the_headers_of_a_patch_are_checked() {
    let patch = |body: &str| json!({"patch": format!("*** Begin Patch\n*** Update File: src/a\n@@\n-a\n+b\n{body}*** End Patch\n")});
    assert_passes("apply_patch", patch(""));
    assert_passes(
        "apply_patch",
        patch("--- a comment in Lua\n-- and one more\n"),
    );
    for header in [
        "Update File: vault/key",
        "Add File: vault/key",
        "Delete File: vault/key",
        "Move to: vault/key",
    ] {
        assert_refused("apply_patch", patch(&format!("*** {header}\n")));
        assert_refused("apply_patch", patch(&format!("  *** {header}\r\n")));
    }
    assert_refused("apply_patch", patch("*** Rewrite: vault/key\n"));
    assert_refused("apply_patch", patch("--- a/vault/key\n+++ b/vault/key\n"));
    let mut decoy = patch("*** Delete File: vault/key\n");
    decoy["path"] = json!("src/a");
    assert_refused("apply_patch", decoy);
}

#[test]
fn r_28_all_files_in_the_headers_of_a_unified_diff_are_checked() {
    let patch =
        |headers: &str| json!({"input": format!("{headers}@@ -1,2 +1,2 @@\n---- a\n+++ b\n c\n")});
    assert_passes(
        "apply_patch",
        patch("--- a/src/a\n+++ b/src/a\t2026-11-21\n"),
    );
    assert_passes("apply_patch", patch("--- /dev/null\n+++ b/src/new\n"));
    for headers in [
        "--- a/src/a\n+++ b/vault/key\n",
        "--- a/vault/key\n+++ b/src/a\n",
        "--- a/vault/key\n+++ /dev/null\n",
        "+++ b/vault/key\n",
        "diff --git a/vault/key b/vault/key\nold mode 100644\nnew mode 100755\n--- a/src/a\n+++ b/src/a\n",
        "diff --git a/vault/key b/src/a\nrename from vault/key\nrename to src/a\n",
        "--- \"a/src/\\303\\244\"\n+++ b/src/a\n",
        // Tools disagree on the file of this header.
        "--- src/a\n+++ src/a\n",
        "Index: vault/key\n--- a/src/a\n+++ b/src/a\n",
    ] {
        assert_refused("apply_patch", patch(headers));
    }
    // After the announced lines of a hunk, headers are headers again.
    let second =
        "--- a/src/a\n+++ b/src/a\n@@ -1 +1 @@\n-a\n+b\n--- a/vault/key\n+++ b/vault/key\n";
    assert_refused("apply_patch", patch(second));
}

#[test]
fn r_28_a_patch_without_a_file_header_is_denied() {
    for params in [
        json!({"path": "src/a"}),
        json!({"path": "src/a", "patch": "@@\n-a\n+b\n"}),
        json!({"path": "src/a", "patch": 7}),
        json!({"path": "src/a", "patch": ["*** Update File: src/a"]}),
        json!({"path": "src/a", "text": "*** Update File: src/a"}),
    ] {
        assert_refused("apply_patch", params);
    }
}

#[test]
fn r_32_unknown_tools_are_denied_for_unknown_files() {
    let denied = ask(
        "move_file",
        json!({"path": "src/a", "destination": "vault/key"}),
    );
    assert_denied(&denied, ResponseAction::Deny, "Scope Violation");
    let hint = denied.recovery_hint.unwrap();
    assert!(
        hint.contains("file_tool") && hint.contains("safe_tool"),
        "{hint}"
    );
    assert_refused("move_file", json!({"path": "src/a"}));
}

#[test]
fn r_32_the_files_of_commands_and_tasks_are_not_checked() {
    for tool in ["execute_command", "new_task"] {
        assert_passes(tool, json!({"path": "vault/key", "command": "ls"}));
    }
}
