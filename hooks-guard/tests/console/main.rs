//! Tests the console in a real browser, with the binary as it is started.

#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "the tests over HTTP use all of it")]
mod support;

mod answers;
mod away;
mod browser;
mod data;
mod diff;
mod empty;
mod files;
mod flood;
mod inbox;
mod look;
mod notify;
mod search;
mod session;
mod times;
mod trail;

use serde_json::{Value, json};

use browser::{Browser, Page};
use support::daemon::{Daemon, TOKEN};

/// Returns the console's address with the token.
fn signed_in(daemon: &Daemon) -> String {
    format!("http://{}/#token={TOKEN}", daemon.address)
}

/// Opens the inbox as the operator.
#[track_caller]
fn open<'b>(browser: &'b Browser, daemon: &Daemon) -> Page<'b> {
    let page = browser.person().window();
    page.goto(&signed_in(daemon));
    page.until("document.getElementById('sign-out').hidden === false");
    page
}

/// Delays the responses of paths with this part until the test releases one with `held.pop()()`, or
/// all, also later ones, with `release()`. The page cannot abort these requests.
fn hold_responses(page: &Page<'_>, part: &str) {
    let source = r#"
        const real = window.fetch;
        window.held = [];
        let holding = true;
        window.release = () => {
            holding = false;
            for (const go of held.splice(0)) go();
        };
        window.fetch = async (path, init) => {
            const matches = path.includes("PART");
            const answer = await real(path, matches ? { ...init, signal: undefined } : init);
            if (holding && matches) await new Promise((go) => held.push(go));
            return answer;
        };
    "#;
    page.before_load(&source.replace("PART", part));
}

/// Asks a question as an agent; returns its id.
#[track_caller]
fn ask(daemon: &Daemon, command: &str) -> Value {
    let body = json!({
        "command": command, "agent": "claude-code", "cwd": "/srv/ada/atlas", "session_id": "s1",
    });
    daemon.post(&body).ok()["id"].clone()
}

/// Returns the answer, if there is one.
#[track_caller]
fn answer(daemon: &Daemon, id: &Value) -> Value {
    daemon.record(id)["user_response"].clone()
}

/// Waits for the card of this question.
#[track_caller]
fn card(page: &Page<'_>, id: &Value) -> String {
    let selector = format!("article[data-id=\"{id}\"]");
    page.until(&format!("document.querySelector('{selector}') !== null"));
    selector
}

/// Waits until a question is answered.
#[track_caller]
fn until_answered(page: &Page<'_>, id: &Value) {
    page.until(&format!(
        "document.querySelector('article[data-id=\"{id}\"]')?.classList.contains('over') ?? true"
    ));
}
