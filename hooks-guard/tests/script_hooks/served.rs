//! Tests the service with hooks from its configuration, and its page.

use std::fs;

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::support::daemon::{Daemon, Setup, TOKEN};

const HOOK: &str = "class Nightly extends HookStopException {}
export default ({ in: { command } }) => {
  if (command.includes('deploy')) throw new Nightly('come back tomorrow');
  if (command.includes('oops')) throw new Error('<b>no idea</b>');
  return { out: command.includes('secret') ? { decision: 'ask', reason: 'is it one?' } : {} };
};";

/// Starts a service with the hook, in a temporary directory.
fn daemon() -> Daemon {
    let setup = Setup::new();
    let file = setup.folder().join("nightly.js");
    fs::write(&file, HOOK).unwrap();
    let scripts = json!([file]);
    setup.config(&format!("scripts = {scripts}")).start()
}

fn asked(daemon: &Daemon, command: &str) -> (Value, bool) {
    let permission = daemon.ask(command);
    (permission["decision"].clone(), permission["denied"] == true)
}

#[test]
fn p_06_the_service_runs_the_configured_hooks() {
    let daemon = daemon();
    assert_eq!(asked(&daemon, "ls"), (json!("AUTO_ALLOWED"), false));
    let asks = json!("REQUIRES_CONFIRMATION");
    assert_eq!(asked(&daemon, "cat secret"), (asks.clone(), false));
    assert_eq!(asked(&daemon, "cat oops"), (asks.clone(), false));
    assert_eq!(asked(&daemon, "ls deploy"), (asks.clone(), true));
    let file = daemon.setup().folder().join("nightly.js");
    let touch = daemon.ask(&format!("echo >> {}", file.display()));
    assert_eq!(touch["decision"], asks);
    let rule = touch["rule"].as_str().unwrap();
    assert!(
        rule.starts_with("built in"),
        "the hook is protected: {rule}"
    );

    // The stricter of both decides.
    let both = daemon.ask(&format!("echo deploy >> {}", file.display()));
    assert_eq!(
        (&both["rule"], &both["denied"]),
        (&json!("hook: nightly.js"), &json!(true))
    );

    let found = daemon.get("/api/hooks/registered").ok();
    let step = |name: &str| {
        let steps = found["dispatches"][0]["steps"].as_array().unwrap();
        let step = steps.iter().find(|step| step["name"] == name);
        step.unwrap()["run"].clone()
    };
    assert_eq!(step("restrict"), "decided");
    assert_eq!(step("rules"), "ran");
    let restrict = &found["slots"][1];
    assert_eq!(restrict["slot"], "restrict");
    assert_eq!(restrict["entries"][0]["name"], "nightly.js");
    let runs = &restrict["entries"][0]["runs"];
    assert_eq!((&runs["runs"], &runs["failed"]), (&json!(6), &json!(1)));
    let scripts = found["scripts"].as_array().unwrap();
    let rows = scripts.iter().map(|row| {
        json!([
            row["hook"],
            row["outcome"],
            row["class"],
            row["runs"],
            row["last_error"]
        ])
    });
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            json!(["nightly.js", "success", "", 3, null]),
            json!(["nightly.js", "stopped", "Nightly", 2, "come back tomorrow"]),
            json!(["nightly.js", "failure", "Error", 1, "<b>no idea</b>"]),
        ]
    );
    let steps = found["dispatches"][2]["steps"].as_array().unwrap();
    assert_eq!(steps[1]["name"], "restrict");
    assert_eq!(steps[1]["run"], "decided");
    assert_eq!(steps[1]["detail"], "hook: nightly.js");
}

#[test]
fn the_hooks_page_shows_the_runs_of_script_hooks() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = daemon();
    daemon.ask("ls deploy");
    daemon.ask("cat oops");
    let page = browser.person().window();
    page.goto(&format!("http://{}/hooks#token={TOKEN}", daemon.address));
    page.until("document.querySelectorAll('.scripts tbody tr').length === 2");
    let text = page.eval("document.querySelector('.scripts').innerText");
    let text = text.as_str().unwrap();
    for shown in [
        "nightly.js",
        "Nightly",
        "come back tomorrow",
        "<b>no idea</b>",
    ] {
        assert!(text.contains(shown), "`{shown}` in {text}");
    }
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn an_invalid_hook_prevents_the_start_of_the_service() {
    let setup = Setup::new();
    let file = setup.folder().join("broken.js");
    fs::write(&file, "export default (").unwrap();
    let (status, stderr) = setup.config(&format!("scripts = {}", json!([file]))).fail();
    assert!(!status.success());
    assert!(stderr.contains("cannot use the hook"), "{stderr}");
    let (_, stderr) = Setup::new().config("scripts = ['hook.js']").fail();
    assert!(stderr.contains("use an absolute path"), "{stderr}");
}
