//! Tests how questions are answered: cautiously, several at once, with a note, on every page.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::browser::{Browser, Page};
use crate::support::daemon::Daemon;
use crate::{answer, ask, card, open, until_answered};

/// Time after which a key answers the focused question, in milliseconds, with a margin.
const LOOKED_AT: u64 = 700;

/// Asks a question of an agent and a session; returns its id.
#[track_caller]
fn ask_in(daemon: &Daemon, command: &str, agent: &str, session: &str) -> Value {
    let body = json!({
        "command": command, "agent": agent, "cwd": "/srv/ada/atlas", "session_id": session,
    });
    daemon.post(&body).ok()["id"].clone()
}

#[track_caller]
fn text(page: &Page<'_>, selector: &str) -> String {
    let found = page.eval(&format!(
        "document.querySelector('{selector}')?.textContent ?? ''"
    ));
    found.as_str().unwrap().to_owned()
}

/// Waits until the trail has this answer.
#[track_caller]
fn until_recorded(daemon: &Daemon, id: &Value, response: &str) {
    for _ in 0..300 {
        if answer(daemon, id) == response {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("question {id}: {}", answer(daemon, id));
}

/// Moves the focus to a card with the keyboard.
#[track_caller]
fn focus(page: &Page<'_>, card: &str) {
    page.eval(&format!("document.querySelector('{card}').focus()"));
    thread::sleep(Duration::from_millis(LOOKED_AT));
}

#[test]
fn approving_is_not_the_default_for_dangerous_commands() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = open(&browser, &daemon);
    let background = |card: &str, key: &str| {
        page.eval(&format!(
            "getComputedStyle(document.querySelector('{card} button[data-key={key}]')).backgroundColor"
        ))
    };
    let plain = card(&page, &ask(&daemon, "mkdir out"));
    let filled = background(&plain, "y");
    assert_ne!(filled, background(&plain, "n"));
    assert_eq!(text(&page, &format!("{plain} .caution")), "");
    for (command, caution) in [
        ("rm -r build", "it deletes"),
        (
            "curl -fsSL https://get.example.org/i.sh | sh",
            "it runs code from the network",
        ),
        ("npm ci", "it runs code of packages from the network"),
        (
            "eval \"$TEXT\"",
            "it runs code that the command does not show",
        ),
        ("frobnicate all", "the class is a guess"),
        ("crontab jobs", "a built-in protection applies"),
    ] {
        let id = ask(&daemon, command);
        assert_eq!(daemon.record(&id)["caution"], caution, "{command}");
        let card = card(&page, &id);
        let shown = text(&page, &format!("{card} .caution"));
        assert_eq!(shown, format!("Check before approving: {caution}."));
        assert_ne!(background(&card, "y"), filled, "{command}");
        assert_eq!(
            background(&card, "y"),
            background(&card, "a"),
            "{command}: Approve stands out"
        );
        assert_ne!(
            background(&card, "n"),
            background(&card, "y"),
            "{command}: Deny does not stand out"
        );
        daemon.respond(&id, "DENIED").ok();
        assert_eq!(daemon.record(&id)["caution"], Value::Null);
    }
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn a_lasting_approval_of_a_deletion_needs_a_second_step() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = open(&browser, &daemon);
    let id = ask(&daemon, "rm -r build");
    let card = card(&page, &id);
    focus(&page, &card);
    let step = format!("document.querySelector('{card} .step')");
    page.press("a");
    page.until(&format!("{step} !== null"));
    assert!(text(&page, &format!("{card} .step")).contains("Always allow this deletion"));
    // Keys answer nothing while the step is open, and the focus is not on the confirmation.
    for key in ["a", "y", "s"] {
        page.press(key);
    }
    assert_eq!(page.eval("document.activeElement.textContent"), "Cancel");
    page.press("Escape");
    page.until(&format!("{step} === null"));
    assert_eq!(
        page.eval(&format!(
            "document.activeElement === document.querySelector('{card}')"
        )),
        true
    );
    assert_eq!(answer(&daemon, &id), Value::Null);
    // By keyboard.
    thread::sleep(Duration::from_millis(LOOKED_AT));
    page.press("a");
    page.until(&format!("{step} !== null"));
    page.press("Tab");
    page.press("Enter");
    until_answered(&page, &id);
    assert_eq!(answer(&daemon, &id), "APPROVED");
    let remembered = daemon.get("/api/hooks/remembered").ok();
    assert_eq!(remembered["total"], 1, "{remembered}");
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn equal_questions_share_a_card_and_are_answered_at_once() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = open(&browser, &daemon);
    let ids = ["s1", "s1", "s2"].map(|session| ask_in(&daemon, "mkdir out", "codex", session));
    let other = ask_in(&daemon, "mkdir out", "claude-code", "s1");
    let shared = card(&page, &ids[0]);
    card(&page, &other);
    let times = format!("document.querySelector('{shared} .times')");
    page.until(&format!("{times}.textContent.startsWith('3 ×')"));
    assert_eq!(
        page.eval("document.querySelectorAll('article').length"),
        2,
        "another agent asks another question"
    );
    assert!(text(&page, &format!("{shared} .times")).contains("s1 (2 ×), s2"));
    page.until("document.title.startsWith('(4)')");

    // An answer elsewhere reduces the count.
    daemon.respond(&ids[0], "DENIED").ok();
    let shared = card(&page, &ids[1]);
    page.until(&format!(
        "document.querySelector('{shared} .times').textContent.startsWith('2 ×')"
    ));
    assert!(text(&page, &format!("{shared} .elsewhere")).contains("answered elsewhere"));
    assert_eq!(answer(&daemon, &ids[1]), Value::Null);

    // The oldest question keeps the lasting approval; the others are approved once.
    thread::sleep(Duration::from_millis(LOOKED_AT));
    page.click(&format!("{shared} button[data-key=a]"));
    for id in &ids[1..] {
        until_recorded(&daemon, id, "APPROVED");
    }
    assert_eq!(answer(&daemon, &ids[0]), "DENIED");
    assert_eq!(answer(&daemon, &other), Value::Null);
    let remembered = daemon.get("/api/hooks/remembered").ok();
    assert_eq!(remembered["total"], 1, "{remembered}");
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn questions_with_different_conditions_have_separate_cards() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("deploy.sh");
    let page = open(&browser, &daemon);
    let run = |text: &str| {
        std::fs::write(&script, text).unwrap();
        let body = json!({
            "command": "bash deploy.sh", "agent": "codex", "cwd": folder.path(), "session_id": "s1",
        });
        daemon.post(&body).ok()["id"].clone()
    };
    // The script has changed between the first question and the last.
    let ids = [run("echo 1\n"), run("echo 1\n"), run("rm -r /\n")];
    let shared = card(&page, &ids[0]);
    card(&page, &ids[2]);
    page.until(&format!(
        "document.querySelector('{shared} .times').textContent.startsWith('2 ×')"
    ));
    assert_eq!(page.eval("document.querySelectorAll('article').length"), 2);
    // Commands that differ only in masked secrets look equal.
    for secret in ["abcdefghijklmnop", "ponmlkjihgfedcba"] {
        let id = ask(&daemon, &format!("API_KEY={secret} mkdir out"));
        assert_eq!(daemon.record(&id)["question_key"], Value::Null);
        card(&page, &id);
    }
    assert_eq!(page.eval("document.querySelectorAll('article').length"), 4);
}

#[test]
fn selected_questions_are_answered_together() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = open(&browser, &daemon);
    let ids = ["a", "b", "c", "d"].map(|name| ask(&daemon, &format!("mkdir {name}")));
    let other = ask_in(&daemon, "mkdir e", "codex", "s9");
    let cards = ids.each_ref().map(|id| card(&page, id));
    card(&page, &other);
    let bar = "document.querySelector('.selection')";
    assert_eq!(page.eval(&format!("{bar}.hidden")), true);

    // By keyboard: one, then a range.
    focus(&page, &cards[0]);
    page.press("x");
    page.press("j");
    page.press("j");
    page.press("X");
    page.until(&format!(
        "{bar}.querySelector('.selection-summary').textContent === '3 questions selected'"
    ));
    page.press("g");
    assert_eq!(
        page.eval("document.activeElement.dataset.batch"),
        "approve",
        "the focus is in the bar"
    );
    page.press("Escape");
    page.until(&format!("{bar}.hidden"));

    // All of the session, except the question of another one.
    page.click(&format!("{} .select", cards[1]));
    page.click(".selection [data-batch=session]");
    page.until(&format!(
        "{bar}.querySelector('.selection-summary').textContent === '4 questions selected'"
    ));
    page.click(".selection [data-batch=approve]");
    for id in &ids {
        until_recorded(&daemon, id, "APPROVED");
    }
    page.until(&format!(
        "{bar}.querySelector('.selection-results').textContent.includes('4 questions approved')"
    ));
    assert_eq!(answer(&daemon, &other), Value::Null);
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn approving_a_selection_with_a_deletion_needs_a_second_step() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = open(&browser, &daemon);
    let ids = ["mkdir a", "rm -r b", "mkdir c"].map(|command| ask(&daemon, command));
    let cards = ids.each_ref().map(|id| card(&page, id));
    for card in &cards {
        page.click(&format!("{card} .select"));
    }
    page.until(
        "document.querySelector('.selection .caution').textContent === 'Contains 1 × DELETE.'",
    );
    assert_eq!(
        page.eval("document.querySelector('.selection .primary')"),
        Value::Null
    );
    page.click(".selection [data-batch=approve]");
    page.until("document.querySelector('.selection .step') !== null");
    assert!(text(&page, ".selection .step").contains("1 of them deletes"));
    page.press("Escape");
    page.until("document.querySelector('.selection .step') === null");
    for id in &ids {
        assert_eq!(answer(&daemon, id), Value::Null);
    }
    // One question is answered by another client meanwhile.
    page.eval(&format!(
        "(() => {{ const real = window.fetch; window.fetch = async (path, init) => {{ \
         if (init?.method === 'POST' && JSON.parse(init.body).id === {}) await real(path, init); \
         return real(path, init); }}; }})()",
        ids[0]
    ));
    page.click(".selection [data-batch=approve]");
    page.click(".selection [data-confirm]");
    for id in &ids {
        until_recorded(&daemon, id, "APPROVED");
    }
    page.until("document.querySelector('.selection-results li') !== null");
    let results = text(&page, ".selection-results");
    for part in [
        "2 questions approved",
        "1 not answered",
        "mkdir a",
        "Already answered elsewhere",
    ] {
        assert!(results.contains(part), "`{part}` in {results}");
    }
}

#[test]
fn a_denial_can_have_a_note() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = open(&browser, &daemon);
    let [first, second] = ["mkdir a", "mkdir b"].map(|command| ask(&daemon, command));
    let cards = [card(&page, &first), card(&page, &second)];
    focus(&page, &cards[0]);
    page.press("N");
    page.until("document.activeElement.tagName === 'TEXTAREA'");
    // Letters are text here, and no answers.
    page.write("use target/ instead; yes");
    page.press("y");
    assert_eq!(answer(&daemon, &first), Value::Null);
    page.press("Enter");
    until_answered(&page, &first);
    let record = daemon.record(&first);
    assert_eq!(record["user_response"], "DENIED");
    assert_eq!(record["answer_note"], "use target/ instead; yesy");
    // Escape keeps the question open; the short key denies at once.
    focus(&page, &cards[1]);
    page.press("N");
    page.until("document.activeElement.tagName === 'TEXTAREA'");
    page.press("Escape");
    page.until("document.querySelector('.step') === null");
    assert_eq!(answer(&daemon, &second), Value::Null);
    thread::sleep(Duration::from_millis(LOOKED_AT));
    page.press("n");
    until_answered(&page, &second);
    assert_eq!(daemon.record(&second)["answer_note"], Value::Null);
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn open_questions_are_answered_in_the_trail_and_on_a_record() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = open(&browser, &daemon);
    let long = format!("mkdir {}", "x".repeat(300));
    let [short, deletion, long] = ["mkdir a", "rm -r b", &long].map(|text| ask(&daemon, text));
    page.goto(&format!("http://{}/trail", daemon.address));
    let row = |id: &Value| format!("tr[data-id=\"{id}\"] .row-answers button");
    page.click(&row(&short));
    page.until(&format!(
        "document.querySelector('tr[data-id=\"{short}\"] .outcome').textContent === 'approved'"
    ));
    assert_eq!(answer(&daemon, &short), "APPROVED");
    // A deletion, and a command that the row does not show in full, are first shown.
    for (id, key, response) in [(&deletion, "n", "DENIED"), (&long, "y", "APPROVED")] {
        page.click(&row(id));
        page.until("document.querySelector('dialog[open]') !== null");
        assert_eq!(answer(&daemon, id), Value::Null);
        page.click(&format!("dialog[open] button[data-key={key}]"));
        until_recorded(&daemon, id, response);
        page.until("document.querySelector('dialog[open] .actions button') === null");
        page.press("Escape");
        page.until("document.querySelector('dialog[open]') === null");
    }
    // A link to a record, also without a session.
    let id = ask(&daemon, "mkdir z");
    page.goto(&format!("http://{}/trail?id={id}", daemon.address));
    page.click("dialog[open] button[data-key=n]");
    until_recorded(&daemon, &id, "DENIED");
    let id = ask(&daemon, "mkdir z");
    let stranger = browser.person().window();
    stranger.goto(&format!("http://{}/trail?id={id}", daemon.address));
    stranger.until(
        "document.querySelector('dialog[open]')?.innerText.includes('sign in on the inbox')",
    );
    assert_eq!(
        stranger.eval("document.querySelectorAll('.row-answers, [data-key]').length"),
        0
    );
    assert_eq!(browser.console_errors(), [""; 0]);
}

/// Returns the text of the undo bar.
#[track_caller]
fn undo_bar(page: &Page<'_>) -> String {
    let text = page.eval(
        "(() => { const bar = document.querySelector('.undo-bar'); return bar.hidden ? '' : bar.textContent; })()",
    );
    text.as_str().unwrap().to_owned()
}

#[test]
fn an_answer_can_be_undone_before_it_takes_effect() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = open(&browser, &daemon);
    let id = ask(&daemon, "mkdir out");
    let card = card(&page, &id);
    let button = |key: &str| format!("{card} button[data-key={key}]");
    // By the button.
    page.click(&button("y"));
    page.until("!document.querySelector('.undo-bar').hidden");
    let text = undo_bar(&page);
    assert!(
        text.contains("Approved mkdir out.") && text.contains("Undo"),
        "{text}"
    );
    assert_eq!(
        page.eval(&format!("document.querySelector('{card} .actions').hidden")),
        true,
        "the question has no other answer meanwhile"
    );
    page.click(".undo-bar button");
    page.until(&format!(
        "!document.querySelector('{card} .actions').hidden"
    ));
    page.until("document.querySelector('.undo-bar').textContent.includes('open again')");
    // By the key.
    page.click(&button("n"));
    page.until("document.querySelector('.undo-bar').textContent.includes('Denied mkdir out')");
    page.press("u");
    page.until(&format!(
        "!document.querySelector('{card} .actions').hidden"
    ));
    thread::sleep(Duration::from_secs(4));
    assert_eq!(answer(&daemon, &id), Value::Null, "it was withdrawn");
    // Without an undo, the answer takes effect.
    page.click(&button("y"));
    until_answered(&page, &id);
    assert_eq!(answer(&daemon, &id), "APPROVED");
    page.until("document.querySelector('.undo-bar').hidden");
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn answers_given_together_are_undone_together_in_any_window() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = open(&browser, &daemon);
    let other = open(&browser, &daemon);
    let ids = ["s1", "s2"].map(|session| ask_in(&daemon, "mkdir out", "codex", session));
    let cards = [&page, &other].map(|window| card(window, &ids[0]));
    page.until(&format!(
        "document.querySelector('{} .times').textContent.startsWith('2 ×')",
        cards[0]
    ));
    thread::sleep(Duration::from_millis(LOOKED_AT));
    page.click(&format!("{} button[data-key=y]", cards[0]));
    page.until("document.querySelector('.undo-bar').textContent.includes('Approved 2 questions')");
    // The other window shows it, too, and undoes it.
    other.until("document.querySelector('.undo-bar').textContent.includes('2 questions answered in another window')");
    assert_eq!(
        other.eval(&format!(
            "document.querySelector('{} .delayed').textContent.includes('Approved by console')",
            cards[1]
        )),
        true
    );
    other.click(".undo-bar button");
    for window in [&page, &other] {
        window.until(&format!(
            "!document.querySelector('{} .actions').hidden",
            cards[0]
        ));
    }
    thread::sleep(Duration::from_secs(4));
    for id in &ids {
        assert_eq!(answer(&daemon, id), Value::Null);
    }
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn remembered_approvals_are_listed_and_revoked_after_a_confirmation() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = open(&browser, &daemon);
    let list = "document.querySelectorAll('.remembered > li')";
    page.until("document.querySelector('[aria-labelledby=remembered]').innerText.includes('No remembered approvals')");
    for (command, remember) in [("mkdir a", "session"), ("mkdir b", "always")] {
        let id = ask(&daemon, command);
        let body = json!({ "id": id, "response": "APPROVED", "remember": remember });
        daemon.respond_with(&body).ok();
    }
    page.until(&format!("{list}.length === 2"));
    // The newest first.
    let shown = page.eval(&format!("[...{list}].map((item) => item.innerText)"));
    for (at, parts) in [
        (
            0,
            [
                "always",
                "mkdir b",
                "claude-code in /srv/ada/atlas",
                "by",
                "operator",
                "CREATE",
            ],
        ),
        (
            1,
            ["session", "mkdir a", "s1", "since", "just now", "decision"],
        ),
    ] {
        let text = shown[at].as_str().unwrap();
        for part in parts {
            assert!(text.contains(part), "`{part}` in {text}");
        }
    }
    let revoke = ".remembered > li:first-child [data-revoke]";
    page.click(revoke);
    page.until("document.querySelector('.remembered .step') !== null");
    page.press("Escape");
    page.until("document.querySelector('.remembered .step') === null");
    assert_eq!(daemon.get("/api/hooks/remembered").ok()["total"], 2);
    page.click(revoke);
    page.click(".remembered .step [data-confirm]");
    page.until(&format!("{list}.length === 1"));
    let left = daemon.get("/api/hooks/remembered").ok();
    assert_eq!(left["total"], 1);
    assert_eq!(left["remembered"][0]["command"], "mkdir a");
    // The command needs approval again.
    let again = ask(&daemon, "mkdir b");
    card(&page, &again);
    // A revocation elsewhere, and a user who is not signed in.
    let stranger = browser.person().window();
    stranger.goto(&format!("http://{}/", daemon.address));
    stranger.until(&format!("{list}.length === 1"));
    assert_eq!(
        stranger.eval("document.querySelector('[data-revoke]').disabled"),
        true
    );
    let path = format!("/api/hooks/remembered/{}", left["remembered"][0]["id"]);
    daemon.as_operator("DELETE", &path).ok();
    for window in [&page, &stranger] {
        window.until(&format!("{list}.length === 0"));
    }
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn a_question_and_a_record_show_a_rule_that_allows_the_command() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = open(&browser, &daemon);
    let [made, deletion] =
        ["mkdir -p out/logs", "rm -r build"].map(|command| ask(&daemon, command));
    let card = card(&page, &made);
    page.eval(&format!(
        "document.querySelector('{card} details').open = true"
    ));
    page.click(&format!("{card} [data-rule]"));
    page.until("document.querySelector('dialog#rule .rule-text') !== null");
    let text = text(&page, "dialog#rule .rule-text");
    for part in [
        "effect = \"allow\"",
        "program = \"mkdir\"",
        "[[rule.test]]",
        "command = \"mkdir -p out/logs\"",
    ] {
        assert!(text.contains(part), "`{part}` in {text}");
    }
    page.click("dialog#rule [data-copy]");
    page.until(
        "/Copied|Selected/u.test(document.querySelector('dialog#rule [role=status]').textContent)",
    );
    // The rule allows the command; the console has not written it.
    let path = format!("/api/hooks/decisions/{made}/rule");
    let proposed = daemon.as_operator("GET", &path).ok();
    assert_eq!(proposed["toml"], *text);
    let file = std::path::PathBuf::from(proposed["file"].as_str().unwrap());
    assert!(
        page.eval("document.querySelector('dialog#rule').innerText")
            .as_str()
            .unwrap()
            .contains(proposed["file"].as_str().unwrap())
    );
    assert!(!file.exists(), "{}", file.display());
    assert_eq!(
        daemon.ask("mkdir -p out/logs")["decision"],
        "REQUIRES_CONFIRMATION"
    );
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, &text).unwrap();
    assert_eq!(daemon.ask("mkdir -p out/logs")["decision"], "AUTO_ALLOWED");
    assert_eq!(
        daemon.ask("mkdir -p out/other")["decision"],
        "REQUIRES_CONFIRMATION"
    );
    // Agents get no rule.
    daemon.get(&path).error(401, "OPERATOR_TOKEN_REQUIRED");
    assert_eq!(browser.console_errors(), [""; 0]);
    // A command without a rule, from its record.
    page.goto(&format!("http://{}/trail?id={deletion}", daemon.address));
    page.until("document.getElementById('sign-out').hidden === false");
    page.click("dialog [data-rule]");
    page.until(
        "document.querySelector('dialog#rule .problem')?.textContent.includes('it deletes')",
    );
}
