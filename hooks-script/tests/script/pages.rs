//! Runs the JavaScript of the book's page and compares its results with the page.

use serde_json::json;

use crate::support::{engine, map, out, register, stop};
use futures_executor::block_on;
use hooks_script::ContextData;

static PAGE: &str = include_str!("../../../docs/script-hooks.md");

#[test]
fn the_hook_on_the_page_runs() {
    let hooks: Vec<_> = PAGE
        .split("```js\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    // The second hook is the example of `check`; `command_line.rs` checks it.
    assert_eq!(hooks.len(), 2);
    let hook = register(&engine(), hooks[0]);
    let run = |text: &str| block_on(hook.run_pre(&map(json!({"text": text})), &ContextData::new()));
    assert_eq!(out(run("  hello ")), json!({"text": "hello"}));
    assert_eq!(
        stop(run("a badword")).message,
        "Message blocked due to use of prohibited words."
    );
}

/// The limits on the page are the defaults of the code.
#[test]
fn the_limits_on_the_page_are_the_defaults() {
    let limits = hooks_script::Limits::default();
    for (name, value) in [
        (
            "fuel",
            format!("{} million instructions", limits.fuel / 1_000_000),
        ),
        ("wall", format!("{} s", limits.wall.as_secs())),
        ("heap", format!("{} MiB", limits.heap >> 20)),
        (
            "stack",
            format!("{} KiB, some 700 calls", limits.stack >> 10),
        ),
        ("source", format!("{} KiB", limits.source >> 10)),
        ("input", format!("{} MiB", limits.input >> 20)),
        ("output", format!("{} KiB", limits.output >> 10)),
        ("jobs", format!("{} continuations", limits.jobs)),
    ] {
        assert!(
            PAGE.contains(&format!("| `{name}` | {value} |")),
            "{name}: {value}"
        );
    }
    assert_eq!(limits.load_fuel, limits.fuel);
    let console = format!(
        "{} lines of {} bytes",
        limits.console_lines, limits.console_line
    );
    assert!(PAGE.contains(&console), "{console}");
}
