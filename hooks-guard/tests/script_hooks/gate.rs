//! Tests the outputs of script hooks and their effects.

use std::fs;
use std::time::Duration;

use hooks_guard::PermissionRequest;
use hooks_guard::classify::Decision;
use hooks_guard::gate::{Gate, GateDecision};
use hooks_guard::script::ScriptHooks;
use serde_json::{Value, json};
use tokio::time::timeout;

/// Returns a gate with the tables' classifier and a hook with this body.
fn gate(body: &str) -> Gate {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hook.js");
    fs::write(&file, format!("export default {body};")).unwrap();
    Gate::tables_only().with_scripts(ScriptHooks::load(&[file]).unwrap())
}

async fn decide(gate: &Gate, command: &str) -> GateDecision {
    gate.decide(&PermissionRequest::new(command)).await
}

/// Returns the runs of a gate, without their times.
async fn runs(gate: &Gate) -> Vec<Value> {
    let runs = gate.hooks().script_runs().await;
    let rows = runs.iter().map(|runs| {
        json!([
            runs.hook,
            runs.outcome,
            runs.class,
            runs.runs,
            runs.last_error
        ])
    });
    rows.collect()
}

#[tokio::test]
async fn p_06_a_hook_denies_asks_or_makes_no_decision() {
    let gate = gate(
        "({ in: { command } }) => ({ out: command === 'ls' ? {} : \
         { decision: command.split(' ')[1], reason: 'so I say' } })",
    );
    let plain = decide(&gate, "ls").await;
    assert_eq!(plain.permission.decision, Decision::AutoAllowed);
    let asked = decide(&gate, "ls ask").await;
    assert_eq!(asked.permission.decision, Decision::RequiresConfirmation);
    assert!(!asked.permission.denied && asked.may_be_remembered);
    assert!(
        asked
            .permission
            .reasoning
            .starts_with("so I say (hook: hook.js)")
    );
    let denied = decide(&gate, "ls deny").await;
    assert!(denied.permission.denied);
    assert_eq!(denied.permission.rule.as_deref(), Some("hook: hook.js"));
    assert_eq!(
        runs(&gate).await,
        [json!(["hook.js", "success", "", 3, null])]
    );
}

#[tokio::test]
async fn p_06_no_output_of_a_hook_allows_a_request() {
    for body in [
        "() => ({ out: { decision: 'allow' } })",
        "() => ({ out: { decision: 'ALLOW', reason: 'fine' } })",
        "() => ({ out: { desicion: 'deny' } })",
        "() => ({ out: { reason: 'no' } })",
        "() => ({ out: { decision: null } })",
        "() => ({ out: { decision: NaN, reason: 'no' } })",
        "() => ({ out: { decision: { deny: null } } })",
        "() => ({ out: { decision: 'deny', reason: null } })",
        "() => ({ out: { reason: null } })",
        "({ in: given }) => ({ out: given })",
        "() => ({})",
        "() => undefined",
        "() => { throw new Error('no idea'); }",
        "() => { for (;;) {} }",
        "() => new Promise(() => {})",
    ] {
        let gate = gate(body);
        for command in ["ls", "cat Cargo.toml"] {
            let decided = decide(&gate, command).await;
            assert_eq!(
                decided.permission.decision,
                Decision::RequiresConfirmation,
                "{body}"
            );
            assert!(
                !decided.permission.denied && !decided.may_be_remembered,
                "{body}"
            );
            assert!(decided.error.is_some(), "{body}");
        }
        let [runs] = &runs(&gate).await[..] else {
            panic!("{body}: one outcome");
        };
        assert_eq!(
            (&runs[1], &runs[3]),
            (&json!("failure"), &json!(2)),
            "{body}"
        );
        assert!(runs[4].is_string(), "{body}");
    }
}

#[tokio::test]
async fn p_06_a_hook_cannot_relax_a_required_confirmation() {
    let gate = gate("() => ({ out: {} })");
    let decided = decide(&gate, "rm -r out").await;
    assert_eq!(decided.permission.decision, Decision::RequiresConfirmation);
    assert!(decided.error.is_none());
}

#[tokio::test]
async fn s_15_a_stop_denies_and_is_counted_by_its_class() {
    let gate = gate(
        "(() => { class TooLate extends HookStopException {} \
         return ({ in: { command } }) => { throw new TooLate(`no ${command} today`); }; })()",
    );
    let decided = decide(&gate, "ls somewhere").await;
    assert!(decided.permission.denied && decided.error.is_none());
    let reasoning = &decided.permission.reasoning;
    assert!(
        reasoning.starts_with("TooLate: no ls somewhere today"),
        "{reasoning}"
    );
    // The record of the run contains nothing of the hook's input.
    let kept = json!(["hook.js", "stopped", "TooLate", 1, "no [input] today"]);
    assert_eq!(runs(&gate).await, [kept]);
}

#[tokio::test]
async fn a_hook_gets_only_command_class_agent_and_directory() {
    let gate = gate(
        "({ in: given, data }) => ({ out: { decision: 'ask', reason: JSON.stringify([given, data]) } })",
    );
    let mut request = PermissionRequest::new("ls");
    request.session_id = Some("s-1".to_owned());
    request.call_id = Some("c-1".to_owned());
    request.context = Some("git".to_owned());
    let least = gate.decide(&request).await.permission.reasoning;
    let given = r#"[{"command":"ls","class":"READ"},{}] (hook"#;
    assert!(least.starts_with(given), "{least}");
    request.agent = Some("codex".to_owned());
    request.cwd = Some("/srv/ada".into());
    let most = gate.decide(&request).await.permission.reasoning;
    let given = r#"[{"command":"ls","class":"READ","agent":"codex","cwd":"/srv/ada"},{}] (hook"#;
    assert!(most.starts_with(given), "{most}");
}

#[tokio::test]
async fn a_cancelled_run_is_recorded_as_skipped() {
    let gate = gate("() => { for (;;) {} }");
    let soon = Duration::from_millis(1);
    let cut_off = timeout(soon, decide(&gate, "ls")).await;
    assert!(cut_off.is_err(), "the loop did not exceed the timeout");
    let why = "its result was no longer needed";
    let kept = json!(["hook.js", "skipped", "", 1, why]);
    assert_eq!(runs(&gate).await, [kept]);
}

#[tokio::test]
async fn an_invalid_hook_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("none.js");
    let error = ScriptHooks::load(std::slice::from_ref(&file)).unwrap_err();
    assert!(
        error.to_string().starts_with("cannot read the hook"),
        "{error}"
    );
    fs::write(&file, "export const hook = 1;").unwrap();
    let error = ScriptHooks::load(&[file]).unwrap_err();
    assert!(
        error.to_string().starts_with("cannot use the hook"),
        "{error}"
    );
}
