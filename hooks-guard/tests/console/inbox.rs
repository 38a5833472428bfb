//! Tests the inbox in a browser: a question appears immediately, and is answered once.

use std::thread;
use std::time::Duration;

use hooks_runtime::display::{escape, hides_text};
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::support::daemon::Daemon;
use crate::{answer, ask, card, hold_responses, signed_in, until_answered};

#[test]
fn new_questions_appear_and_are_answered_by_button() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    page.goto(&signed_in(&daemon));
    page.until("document.querySelector('.empty').hidden === false");
    for (key, response) in [
        ("y", "APPROVED"),
        ("n", "DENIED"),
        ("s", "APPROVED"),
        ("a", "APPROVED"),
    ] {
        let id = ask(&daemon, &format!("mkdir {key}"));
        let card = card(&page, &id);
        page.until("document.title.startsWith('(1)')");
        page.click(&format!("{card} button[data-key={key}]"));
        until_answered(&page, &id);
        assert_eq!(answer(&daemon, &id), response);
        page.until(&format!("document.querySelector('{card}') === null"));
    }
    page.until("document.title === 'Inbox · hooks-guard'");
    let remembered = daemon.get("/api/hooks/remembered").ok();
    let remembered = remembered["remembered"].as_array().unwrap();
    assert_eq!(remembered.len(), 2, "for the session, and always");
    assert_eq!(remembered[0]["session_id"], "s1");
    assert_eq!(remembered[1]["session_id"], Value::Null);
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn a_question_shows_command_class_agent_and_directory() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    page.goto(&signed_in(&daemon));
    let id = ask(&daemon, "ls && mkdir größe && git push");
    let card = card(&page, &id);
    let inside = |selector: &str| {
        page.eval(&format!(
            "document.querySelector('{card} {selector}').textContent"
        ))
    };
    let record = daemon.record(&id);
    assert_eq!(inside(".command"), "ls && mkdir größe && git push");
    assert_eq!(inside(".badge"), record["classification"]);
    assert_eq!(inside(".agent"), "claude-code");
    assert_eq!(inside(".directory"), "/srv/ada/atlas");
    // The deciding part, and the effects of the others.
    assert_eq!(inside("mark"), "git push");
    let parts = page.eval(&format!(
        "[...document.querySelectorAll('{card} .command [data-effect]')].map((part) => [part.textContent, part.dataset.effect])"
    ));
    assert_eq!(
        parts,
        json!([
            ["ls", "READ"],
            ["mkdir größe", "CREATE"],
            ["git push", "UPDATE"]
        ])
    );
    let reasoning = inside(".reasoning");
    assert!(
        reasoning
            .as_str()
            .unwrap()
            .contains(&record["reasoning"].as_str().unwrap().replace('`', "")),
        "{reasoning}"
    );
    assert!(
        reasoning.as_str().unwrap().contains("% confidence"),
        "{reasoning}"
    );
    let left = inside(".left");
    let left = left.as_str().unwrap();
    assert!(left == "5:00 left" || left.starts_with("4:"), "{left}");
}

#[test]
fn a_command_with_masked_secrets_has_no_marked_parts() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    page.goto(&signed_in(&daemon));
    let id = ask(&daemon, "API_KEY=abcdefghijklmnop mkdir out");
    let card = card(&page, &id);
    let text = page.eval(&format!(
        "document.querySelector('{card} .command').textContent"
    ));
    assert!(text.as_str().unwrap().contains("[secret]"), "{text}");
    assert_eq!(
        page.eval(&format!("document.querySelector('{card} mark')")),
        Value::Null
    );
    assert_eq!(daemon.record(&id)["parts"], Value::Null);
}

#[test]
fn keys_move_the_focus_and_answer_the_focused_question() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    page.goto(&signed_in(&daemon));
    let [first, second] = ["mkdir a", "mkdir b"].map(|command| ask(&daemon, command));
    card(&page, &first);
    card(&page, &second);
    // Without focus, a key answers nothing.
    page.press("y");
    page.press("j");
    // Both keys in one task, so that the second comes too soon after the question appeared.
    page.eval("for (const key of ['j', 'y']) document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))");
    let focused = "document.activeElement.dataset.id";
    assert_eq!(page.eval(focused), second.to_string());
    thread::sleep(Duration::from_millis(700));
    assert_eq!(answer(&daemon, &first), Value::Null);
    assert_eq!(answer(&daemon, &second), Value::Null);
    page.press("n");
    until_answered(&page, &second);
    assert_eq!(answer(&daemon, &second), "DENIED");
    // The focus moves to the remaining question.
    page.until(&format!("{focused} === '{first}'"));
    thread::sleep(Duration::from_millis(700));
    page.press("y");
    until_answered(&page, &first);
    assert_eq!(answer(&daemon, &first), "APPROVED");
}

#[test]
fn concurrent_answers_in_two_windows_answer_a_question_once() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let windows = [browser.person().window(), browser.person().window()];
    for window in &windows {
        window.goto(&signed_in(&daemon));
        window.until("document.getElementById('sign-out').hidden === false");
    }
    for round in 0..5 {
        let id = ask(&daemon, &format!("mkdir d{round}"));
        let cards = windows.each_ref().map(|window| card(window, &id));
        // Concurrently, so that neither window has received the other's answer.
        for (window, (card, key)) in windows.iter().zip(cards.iter().zip(["y", "n"])) {
            window.eval(&format!(
                "document.querySelector('{card} button[data-key={key}]')?.click()"
            ));
        }
        for window in &windows {
            until_answered(window, &id);
        }
        let first = answer(&daemon, &id);
        assert!(first == "APPROVED" || first == "DENIED", "{first}");
        // Both windows show the answer that counts.
        let shown = if first == "APPROVED" {
            "approved"
        } else {
            "denied"
        };
        for (window, card) in windows.iter().zip(&cards) {
            window.until(&format!(
                "(document.querySelector('{card} .outcome')?.textContent ?? '{shown}') === '{shown}'"
            ));
        }
    }
    let metrics = daemon.get("/metrics").text();
    let answers: u64 = metrics
        .lines()
        .filter(|line| line.starts_with("hooks_guard_answers_total"))
        .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(answers, 5);
}

#[test]
fn the_inbox_reconnects_after_a_restart_of_the_daemon() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    page.goto(&signed_in(&daemon));
    let old = ask(&daemon, "mkdir old");
    card(&page, &old);
    let address = daemon.address.clone();
    let setup = daemon.into_setup();
    page.until("document.getElementById('live').dataset.state === 'away'");
    let daemon = setup.listen(Some(&address)).start();
    let new = ask(&daemon, "mkdir new");
    card(&page, &new);
    page.until("document.getElementById('live').dataset.state === 'live'");
    // The old question is still pending, and the daemon has no sessions after the restart.
    card(&page, &old);
    page.until("document.getElementById('sign-in') !== null");
    page.click("#token");
    page.write(crate::support::daemon::TOKEN);
    page.press("Enter");
    for id in [&old, &new] {
        let card = card(&page, id);
        page.click(&format!("{card} button[data-key=y]"));
        until_answered(&page, id);
        assert_eq!(answer(&daemon, id), "APPROVED");
    }
}

#[test]
fn events_received_while_recent_decisions_load_are_applied() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    hold_responses(&page, "/api/hooks/decisions");
    page.goto(&format!("http://{}/", daemon.address));
    // This response has no decisions.
    page.until("held.length === 1");
    let id = ask(&daemon, "mkdir out");
    card(&page, &id);
    daemon.respond(&id, "APPROVED").ok();
    until_answered(&page, &id);
    page.eval("held.pop()()");
    page.until("document.querySelector('.feed .outcome')?.textContent === 'approved'");
    page.until("document.querySelector('.empty').hidden === false");
    assert_eq!(
        page.eval("document.querySelector('.empty').innerText.includes('No agent has asked yet')"),
        false
    );
    assert_eq!(
        page.eval("document.querySelectorAll('.feed tbody tr').length"),
        1
    );
}

#[test]
fn events_received_while_the_inbox_loads_are_applied() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    hold_responses(&page, "/api/hooks/pending");
    let old = ask(&daemon, "mkdir old");
    page.goto(&signed_in(&daemon));
    // The page reads them again once the operator is signed in.
    page.until("held.length >= 1");
    daemon.respond(&old, "APPROVED").ok();
    let new = daemon.ask("mkdir new");
    let shown = card(&page, &new["id"]);
    page.eval("release()");
    // Recent decisions are read after that.
    page.until("document.querySelectorAll('.feed tbody tr').length === 2");
    assert_eq!(
        page.eval("[...document.querySelectorAll('article')].map((card) => card.dataset.id)"),
        json!([new["id"].to_string()])
    );
    page.until("document.title.startsWith('(1)')");

    // An execution is not an answer.
    daemon.executed(&new["id"], &new["secret"]).ok();
    card(&page, &ask(&daemon, "mkdir newer"));
    assert_eq!(
        page.eval(&format!(
            "document.querySelector('{shown}').classList.contains('over')"
        )),
        false
    );
    page.until("document.title.startsWith('(2)')");
    page.click(&format!("{shown} button[data-key=n]"));
    until_answered(&page, &new["id"]);
    assert_eq!(answer(&daemon, &new["id"]), "DENIED");
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn a_question_answered_elsewhere_is_removed_from_the_inbox() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    page.goto(&format!("http://{}/", daemon.address));
    let id = ask(&daemon, "mkdir out");
    card(&page, &id);
    daemon.respond(&id, "APPROVED").ok();
    until_answered(&page, &id);
    page.until("document.querySelector('.empty').hidden === false");
    page.until("document.querySelector('.feed .outcome')?.textContent === 'approved'");
}

#[test]
fn deceptive_characters_are_escaped_as_on_a_terminal() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    page.goto(&format!("http://{}/", daemon.address));
    let cases = [
        "a\nb\tc\rd",
        "\u{1b}[31mred\u{7}\0\u{7f}\u{9b}",
        "\u{202e}x\u{2066}\u{200f}\u{61c}\u{200b}\u{200d}\u{feff}\u{ad}\u{2028}\u{a0}\u{3000}\u{fe0f}\u{e0041}\u{115f}\u{3164}\u{ffa0}\u{2800}\u{fff9}\u{e000}a\u{301}",
        "größe 日本語 ✓ 'x' \"y\" \\n",
    ];
    for case in cases {
        let shown = page.eval(&format!(
            "import('/console/escape.js').then((all) => all.escape({}))",
            json!(case)
        ));
        assert_eq!(shown, escape(case));
    }
    // All Unicode characters. Characters assigned by later versions of Unicode may differ;
    // deceptive ones must not.
    let hidden = page.eval(
        "import('/console/escape.js').then((all) => { const found = []; for (let at = 0; at <= 0x10ffff; at += 1) { if (at >= 0xd800 && at <= 0xdfff) continue; const character = String.fromCodePoint(at); if (all.shown(character) !== character && !/\\p{Cn}/u.test(character)) found.push(at); } return found; })",
    );
    let hidden: Vec<u32> = serde_json::from_value(hidden).unwrap();
    let all = (0..=u32::from(char::MAX)).filter_map(char::from_u32);
    let missing: Vec<char> = all
        .filter(|one| {
            hides_text(&one.to_string()) && hidden.binary_search(&u32::from(*one)).is_err()
        })
        .filter(|one| page.eval(&format!("/\\p{{Cn}}/u.test({})", json!(one))) != true)
        .collect();
    assert_eq!(missing, [' '; 0], "shown as they are");
    let too_many: Vec<char> = hidden
        .iter()
        .filter_map(|at| char::from_u32(*at))
        .filter(|one| escape(&one.to_string()) == one.to_string())
        .collect();
    assert!(
        too_many.len() < 100,
        "shown as they are on a terminal: {too_many:?}"
    );
}

#[test]
fn a_command_is_shown_as_escaped_text_and_not_as_markup() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    page.goto(&signed_in(&daemon));
    let bad = "mkdir \"<img src=x onerror=document.title='owned'>\" \u{202e}txt.exe\u{202c} a\u{200b}b \u{1b}[2J";
    let body = json!({
        "command": bad, "agent": "<b>agent\u{202e}", "cwd": "/srv/<script>alert(1)</script>\u{200b}",
        "session_id": "\u{1b}]0;x\u{7}",
    });
    let id = daemon.post(&body).ok()["id"].clone();
    let card = card(&page, &id);
    let text = page.eval(&format!("document.querySelector('{card}').textContent"));
    let text = text.as_str().unwrap();
    assert!(text.contains(&escape(bad)), "{text}");
    assert!(text.contains(r"<b>agent\u{202e}"), "{text}");
    assert!(!hides_text(text), "{text}");
    assert_eq!(
        page.eval("document.querySelectorAll('main img, main b, main script').length"),
        0
    );
    for path in ["/trail", "/hooks", "/statistics?period=all"] {
        page.goto(&format!("http://{}{path}", daemon.address));
        page.until("document.querySelector('main table') !== null");
        let all = page.eval("document.querySelector('main').textContent");
        assert!(!hides_text(all.as_str().unwrap()), "{path}: {all}");
    }
    page.goto(&format!("http://{}/trail?id={id}", daemon.address));
    page.until("document.querySelector('dialog').open");
    let all = page.eval("document.querySelector('dialog').textContent + document.title");
    assert!(!hides_text(all.as_str().unwrap()), "{all}");
    assert_eq!(browser.console_errors(), [""; 0]);
}
