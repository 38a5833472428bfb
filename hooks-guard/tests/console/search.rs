//! Tests the search as the operator types, and the list of keys.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::support::daemon::Daemon;
use crate::{ask, card, hold_responses, signed_in};

/// Commands of the displayed rows.
const ROWS: &str = "[...document.querySelectorAll('tbody tr[data-id] .command')].map((command) => command.textContent)";
/// Commands of the displayed cards.
const CARDS: &str = "[...document.querySelectorAll('article')].filter((card) => card.checkVisibility()).map((card) => card.querySelector('.command').textContent)";
const FOCUS: &str = "document.activeElement.id";

fn equals(expression: &str, wanted: &Value) -> String {
    format!(
        "JSON.stringify({expression}) === {}",
        json!(wanted.to_string())
    )
}

#[test]
fn the_trail_searches_while_the_operator_types() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    for command in ["mkdir alpha", "mkdir beta", "touch alphabet"] {
        ask(&daemon, command);
    }
    let page = browser.person().window();
    page.goto(&format!(
        "http://{}/trail?agent=claude-code",
        daemon.address
    ));
    page.until("document.querySelectorAll('tbody tr[data-id]').length === 3");
    page.eval("window.same = true");
    page.press("/");
    assert_eq!(page.eval(FOCUS), "command_filter");
    assert_eq!(page.eval("document.activeElement.value"), "");
    page.write("ALPHA");
    page.until(&equals(ROWS, &json!(["touch alphabet", "mkdir alpha"])));
    assert_eq!(
        page.eval("location.search"),
        "?agent=claude-code&command_filter=ALPHA"
    );
    let link = page.eval("document.querySelector('a[download$=csv]').getAttribute('href')");
    let table = daemon.get(link.as_str().unwrap()).text();
    assert_eq!(table.lines().count(), 3, "{table}");
    // A new decision counts only if it is in the list.
    ask(&daemon, "mkdir gamma");
    ask(&daemon, "mkdir alphas");
    page.until("document.querySelector('main').innerText.includes('1 new decision')");
    page.write("bet");
    page.until(&equals(ROWS, &json!(["touch alphabet"])));
    page.press("Escape");
    page.until("document.querySelectorAll('tbody tr[data-id]').length === 5");
    assert_eq!(page.eval("location.search"), "?agent=claude-code");
    assert_eq!(page.eval(FOCUS), "command_filter");
    page.write("nowhere");
    page.until("document.querySelector('.nothing')?.innerText.includes('No matching decisions')");
    page.press("Escape");
    page.press("Escape");
    assert_eq!(page.eval("document.activeElement === document.body"), true);
    assert_eq!(
        page.eval("window.same"),
        true,
        "the page was not loaded again"
    );
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn a_late_response_does_not_replace_a_newer_search() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    for command in ["mkdir alpha", "mkdir beta"] {
        ask(&daemon, command);
    }
    let page = browser.person().window();
    // The response to the first search arrives after the response to the second one.
    hold_responses(&page, "command_filter=alpha");
    page.goto(&format!("http://{}/trail", daemon.address));
    page.until("document.querySelectorAll('tbody tr[data-id]').length === 2");
    page.press("/");
    page.write("alpha");
    page.until("held.length === 1");
    page.press("Escape");
    page.write("beta");
    page.until(&equals(ROWS, &json!(["mkdir beta"])));
    page.eval("held.pop()()");
    page.eval("new Promise((go) => setTimeout(go, 300))");
    assert_eq!(page.eval(ROWS), json!(["mkdir beta"]));
    assert_eq!(
        page.eval("document.getElementById('found').textContent"),
        "1 decision found"
    );
}

#[test]
fn the_inbox_shows_the_cards_that_match_a_search() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    page.goto(&signed_in(&daemon));
    page.until("document.querySelector('.empty').hidden === false");
    assert_eq!(
        page.eval("document.getElementById('card-search').checkVisibility()"),
        false
    );
    let ids = ["mkdir alpha", "rm -r beta", "mkdir gamma"].map(|command| ask(&daemon, command));
    for id in &ids {
        card(&page, id);
    }
    page.press("/");
    assert_eq!(page.eval(FOCUS), "card-search");
    page.write("MKDIR");
    page.until(&equals(CARDS, &json!(["mkdir alpha", "mkdir gamma"])));
    page.until(
        "document.getElementById('cards-found').innerText.includes('2 of 3 shown questions match')",
    );
    // The keys skip hidden cards.
    page.eval("document.activeElement.blur()");
    for wanted in [&ids[0], &ids[2]] {
        page.press("j");
        assert_eq!(
            page.eval("document.activeElement.dataset.id"),
            wanted.to_string()
        );
    }
    // A new question is searched as well.
    let late = ask(&daemon, "rm -r delta");
    card(&page, &late);
    page.until(&equals(CARDS, &json!(["mkdir alpha", "mkdir gamma"])));
    assert_eq!(page.eval("document.title.startsWith('(4)')"), true);
    page.press("/");
    page.write("nowhere");
    page.until(
        "document.getElementById('cards-found').innerText.includes('No shown question matches')",
    );
    assert_eq!(page.eval(CARDS), json!([]));
    page.click("#cards-found button");
    page.until("[...document.querySelectorAll('article')].every((card) => card.checkVisibility())");
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn a_question_mark_lists_the_keys_of_the_page() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    for (path, keys) in [
        ("/missing", &["?", "t"][..]),
        ("/", &["j", "y", "n", "/", "?", "t"]),
        ("/trail", &["/", "Enter", "?", "t"]),
        ("/statistics", &["?", "t"]),
        ("/hooks", &["?", "t"]),
    ] {
        page.goto(&format!("http://{}{path}", daemon.address));
        page.press("?");
        page.until("document.getElementById('help').open");
        let listed =
            page.eval("[...document.querySelectorAll('#help kbd')].map((key) => key.textContent)");
        for key in keys {
            assert!(
                listed.as_array().unwrap().contains(&json!(key)),
                "{path}: {key} in {listed}"
            );
        }
        page.press("Escape");
        page.until("!document.getElementById('help').open");
        if path == "/missing" {
            // The browser reports the status 404.
            browser.console_errors();
        }
    }
    page.looks(390, false);
    page.goto(&format!("http://{}/trail", daemon.address));
    page.click("#open-keys");
    page.until("document.getElementById('help').open");
    page.press("Escape");
    page.until("!document.getElementById('help').open");
    assert_eq!(page.eval(FOCUS), "open-keys");
    // A letter that is typed is no key.
    page.click("#command_filter");
    page.press("?");
    assert_eq!(page.eval("document.activeElement.value"), "?");
    assert_eq!(page.eval("document.getElementById('help').open"), false);
    assert_eq!(browser.console_errors(), [""; 0]);
}
