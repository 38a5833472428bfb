//! The program runs to its end, and has no async runtime among its dependencies.

use std::process::Command;

#[test]
fn hooks_run_and_wait_on_one_thread() {
    let output = Command::new(env!("CARGO_BIN_EXE_hooks-example-without-tokio"))
        .output()
        .expect("the program starts");
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "published: two lines\n\
         the hook waits\n\
         the editor received: a whole sentence.\n\
         published: a whole sentence.\n\
         not published: and another\n"
    );
}

/// Checks the whole dependency tree, so that no dependency adds a runtime.
#[test]
fn no_runtime_is_among_the_dependencies() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--edges", "normal", "--prefix", "none"])
        .args(["--package", env!("CARGO_PKG_NAME"), "--format", "{p}"])
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tree = String::from_utf8(output.stdout).expect("UTF-8");
    let names: Vec<_> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(names.contains(&"hooks-core"), "{tree}");
    for runtime in ["tokio", "async-std", "smol", "async-executor"] {
        assert!(!names.contains(&runtime), "{tree}");
    }
}
