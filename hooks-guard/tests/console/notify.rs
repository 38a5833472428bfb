//! Tests the notifications and the sound for new questions, which are off until they are turned on.

use serde_json::{Value, json};

use crate::browser::{Browser, Page};
use crate::support::daemon::Daemon;
use crate::{ask, card};

/// Records notifications and tones, because a browser without a screen shows none.
const RECORDER: &str = r#"
    window.asked = 0;
    window.made = [];
    window.tones = 0;
    window.focused = 0;
    window.focus = () => { window.focused += 1; };
    window.Notification = class extends EventTarget {
        static get permission() { return localStorage.getItem("test permission") ?? "default"; }
        static async requestPermission() {
            window.asked += 1;
            localStorage.setItem("test permission", localStorage.getItem("test answer") ?? "granted");
            return this.permission;
        }
        constructor(title, { body }) {
            super();
            window.made.push({ title, body, closed: false, at: this });
        }
        close() {
            window.made.find(({ at }) => at === this).closed = true;
            this.dispatchEvent(new Event("close"));
        }
    };
    const start = OscillatorNode.prototype.start;
    OscillatorNode.prototype.start = function (...rest) {
        window.tones += 1;
        return start.apply(this, rest);
    };
"#;
const MADE: &str = "made.map(({ title, body }) => [title, body])";

#[track_caller]
fn window<'b>(person: &crate::browser::Person<'b>, daemon: &Daemon, path: &str) -> Page<'b> {
    let page = person.window();
    page.before_load(RECORDER);
    page.goto(&format!("http://{}{path}", daemon.address));
    page
}

/// Shows or hides the window.
fn visible(page: &Page<'_>, is_visible: bool) {
    let state = if is_visible { "visible" } else { "hidden" };
    page.eval(&format!(
        "Object.defineProperty(document, 'visibilityState', {{ value: '{state}', configurable: true }}); document.dispatchEvent(new Event('visibilitychange')); new Promise((go) => setTimeout(go, 100))"
    ));
}

/// Waits longer than the time in which questions are collected.
fn collected(page: &Page<'_>) {
    page.eval("new Promise((go) => setTimeout(go, 2500))");
}

#[track_caller]
fn set(page: &Page<'_>, name: &str) {
    if page.eval("document.getElementById('settings').open") == false {
        page.click("#open-settings");
    }
    page.click(&format!("#setting-{name}"));
}

#[test]
fn a_hidden_window_notifies_once_of_a_burst_of_questions() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let person = browser.person();
    let page = window(&person, &daemon, "/");
    ask(&daemon, "mkdir before");
    collected(&page);
    assert_eq!(
        page.eval("[asked, made.length, tones]"),
        json!([0, 0, 0]),
        "all are off"
    );
    set(&page, "notify");
    page.until("document.getElementById('setting-notify').checked && asked === 1");
    page.press("Escape");
    let stored = page.eval("JSON.stringify({ ...localStorage })");
    assert_eq!(
        stored,
        "{\"test permission\":\"granted\",\"hooks-guard notifications\":\"1\"}"
    );
    // A visible window shows the question itself.
    card(&page, &ask(&daemon, "mkdir seen"));
    collected(&page);
    assert_eq!(page.eval(MADE), json!([]));

    visible(&page, false);
    let id = ask(&daemon, "API_LEVEL=3 /bin/rm -r ../secret-plans");
    page.until("made.length === 1");
    assert_eq!(page.eval(MADE), json!([["DELETE from claude-code", "rm"]]));
    daemon.respond(&id, "DENIED").ok();
    page.until("made[0].closed");
    // A burst, of which one question is answered at once.
    for name in ["a", "b", "c"] {
        ask(&daemon, &format!("mkdir {name}"));
    }
    ask(&daemon, "rm -r x");
    let answered = ask(&daemon, "rm -r y");
    daemon.respond(&answered, "DENIED").ok();
    collected(&page);
    let made = page.eval(MADE);
    assert_eq!(made.as_array().unwrap().len(), 2, "{made}");
    assert_eq!(made[1], json!(["4 new questions", "3 CREATE, 1 DELETE"]));

    // Another window, in which the setting holds as well, and the first one is visible again.
    let other = window(&person, &daemon, "/trail");
    visible(&other, false);
    visible(&page, true);
    ask(&daemon, "mkdir visible-elsewhere");
    collected(&other);
    visible(&page, false);
    set(&page, "commands");
    ask(&daemon, "mkdir \u{202e}out");
    collected(&other);
    let all = page.eval(MADE);
    let all = [
        all.as_array().unwrap().clone(),
        other.eval(MADE).as_array().unwrap().clone(),
    ]
    .concat();
    assert_eq!(
        all[2..],
        [json!(["CREATE from claude-code", "mkdir \\u{202e}out"])],
        "one of the two windows"
    );
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn a_click_on_a_notification_shows_the_question() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = window(&browser.person(), &daemon, "/");
    set(&page, "notify");
    page.until("document.getElementById('setting-notify').checked");
    page.press("Escape");
    visible(&page, false);
    let id = ask(&daemon, "mkdir out");
    page.until("made.length === 1");
    page.eval("made[0].at.dispatchEvent(new Event('click'))");
    page.until(&format!(
        "focused === 1 && made[0].closed && document.activeElement.dataset.id === '{id}'"
    ));
    // On another page, it opens the inbox.
    page.goto(&format!("http://{}/hooks", daemon.address));
    visible(&page, false);
    ask(&daemon, "mkdir other");
    page.until("made.length === 1");
    page.eval("made[0].at.dispatchEvent(new Event('click')), null");
    page.until("location.pathname === '/'");
}

#[test]
fn a_denied_permission_leaves_notifications_off() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = window(&browser.person(), &daemon, "/");
    page.eval("localStorage.setItem('test answer', 'denied')");
    set(&page, "notify");
    page.until(
        "document.querySelector('#settings .problem').textContent.includes('blocks notifications')",
    );
    assert_eq!(
        page.eval("document.getElementById('setting-notify').checked"),
        false
    );
    assert_eq!(
        page.eval("document.getElementById('setting-commands').disabled"),
        true
    );
    assert_eq!(
        page.eval("localStorage.getItem('hooks-guard notifications')"),
        Value::Null
    );
}

#[test]
fn a_sound_plays_once_for_a_burst_in_one_window() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let person = browser.person();
    let page = window(&person, &daemon, "/");
    set(&page, "sound");
    // The operator hears it when the setting is turned on: two tones.
    page.until("document.getElementById('setting-sound').checked && tones === 2");
    assert_eq!(
        page.eval("[asked, localStorage.getItem('hooks-guard sound')]"),
        json!([0, "1"])
    );
    page.press("Escape");
    let other = window(&person, &daemon, "/statistics");
    other.click("h1");
    for name in ["a", "b", "c"] {
        ask(&daemon, &format!("mkdir {name}"));
    }
    page.until("tones === 4");
    collected(&page);
    assert_eq!(
        [page.eval("tones"), other.eval("tones")],
        [json!(4), json!(0)]
    );
    // Reads are no questions.
    ask(&daemon, "ls");
    collected(&page);
    assert_eq!(page.eval("tones"), 4);
    assert_eq!(browser.console_errors(), [""; 0]);
}
