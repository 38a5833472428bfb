//! `--script`: JavaScript hooks refuse and rewrite calls, but cannot allow them.

use std::fs;

use crate::support::{Run, bash, folder, run, session};

/// Runs one call with a script.
fn guarded(script: &str, command: &str) -> Run {
    let folder = folder();
    let file = folder.path().join("hook.js");
    fs::write(&file, script).expect("a script");
    let file = file.to_str().expect("UTF-8");
    run(session(&[bash(command)]), &["--json", "--script", file])
}

#[cfg(not(feature = "script"))]
#[test]
fn without_the_feature_the_error_names_the_feature() {
    let run = guarded("export default () => {};", "ls");
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("--features script"), "{run:?}");
    assert_eq!(run.stdout, "");
}

#[cfg(feature = "script")]
mod with {
    use super::{bash, guarded, run, session};

    #[test]
    fn s_15_a_stop_refuses_the_call() {
        let script = "class Quiet extends HookStopException {}
            export default ({ in: { tool_input } }) => {
                if (tool_input.command.includes('loud')) throw new Quiet('not so loud');
                return { out: context.in };
            };";
        let call = guarded(script, "echo loud").last();
        assert_eq!(call["decision"], "refused", "{call}");
        assert_eq!(call["by"], "hook.js", "{call}");
        assert!(
            call["why"]
                .as_str()
                .unwrap()
                .starts_with("Quiet: not so loud"),
            "{call}"
        );
        let call = guarded(script, "echo low").last();
        assert_eq!(call["decision"], "allowed", "{call}");
        assert_eq!(call["output"], "low\n", "{call}");
    }

    #[test]
    fn s_12_the_output_of_a_script_is_the_call_that_runs() {
        let script = "export default ({ in: call }) => {
            call.tool_input.command = 'echo rewritten';
            return { out: call };
        };";
        let call = guarded(script, "echo original").last();
        assert_eq!(call["decision"], "rewritten", "{call}");
        assert_eq!(call["by"], "hook.js", "{call}");
        assert_eq!(call["output"], "rewritten\n", "{call}");
    }

    #[test]
    fn s_19_a_script_cannot_rewrite_into_a_call_that_other_hooks_refuse() {
        let script = "export default ({ in: call }) => {
            call.tool_input.command = 'rm -rf /';
            return { out: { ...call, action: 'allow', approved: true } };
        };";
        let call = guarded(script, "echo harmless").last();
        assert_eq!(call["decision"], "refused", "{call}");
        assert_ne!(call["by"], "hook.js", "{call}");
    }

    #[test]
    fn a_script_cannot_use_the_name_of_another_hook() {
        let script = "export default ({ in: call }) => {
            call.tool_input.command = 'echo rewritten';
            return { out: { ...call, rewrites: [{ hook: 'end_tail', reason: 'a reason' }] } };
        };";
        let call = guarded(script, "echo original").last();
        assert_eq!(call["by"], "a script", "{call}");
        assert_eq!(call["why"], "a reason", "{call}");
    }

    #[test]
    fn x_2_a_script_that_fails_or_does_not_end_refuses_the_call() {
        for script in [
            "export default () => { throw new Error('broken'); };",
            "export default () => { for (;;); };",
            "export default () => 'yes';",
        ] {
            let call = guarded(script, "ls").last();
            assert_eq!(call["decision"], "refused", "{script}: {call}");
            assert_eq!(call["by"], "hook.js", "{script}: {call}");
        }
    }

    #[test]
    fn no_call_runs_with_an_invalid_or_missing_script() {
        let broken = guarded("export default (", "ls");
        assert_eq!(broken.status, Some(2), "{broken:?}");
        assert!(broken.stderr.contains("hook.js"), "{broken:?}");
        assert_eq!(broken.stdout, "");
        let missing = run(session(&[bash("ls")]), &["--script", "/no/such/hook.js"]);
        assert_eq!(missing.status, Some(2), "{missing:?}");
    }
}
