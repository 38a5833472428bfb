//! Tests what the pages show without decisions, and what they suggest to do next.

use serde_json::{Value, json};

use crate::ask;
use crate::browser::Browser;
use crate::daemon::Daemon;

const PAGES: [(&str, &str); 4] = [
    ("/", ".empty"),
    ("/trail", ".nothing"),
    ("/statistics?period=all", ".empty"),
    ("/hooks", "main"),
];

#[test]
fn an_empty_page_shows_the_next_step() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    for (path, selector) in PAGES {
        page.goto(&format!("http://{}{path}", daemon.address));
        let text = format!("document.querySelector('{selector}')?.innerText ?? ''");
        let command = match path {
            "/hooks" => "scripts",
            _ => "hooks-guard install",
        };
        page.until(&format!("({text}).includes('{command}')"));
        let shown = page.eval(&text);
        assert!(!shown.as_str().unwrap().contains('`'), "{path}: {shown}");
        let code = format!(
            "[...document.querySelectorAll('{selector} code')].some((code) => code.textContent.startsWith('{command}'))"
        );
        assert_eq!(page.eval(&code), true, "{path}: {shown}");
    }
    // A filter without results offers the way back.
    ask(&daemon, "ls");
    page.goto(&format!("http://{}/trail?agent=nobody", daemon.address));
    page.until("document.querySelector('.nothing')?.innerText.includes('No matching decisions')");
    page.click(".nothing a");
    page.until("document.querySelectorAll('tbody tr[data-id]').length === 1");
    // Answered questions leave no instructions for the first start.
    page.goto(&format!("http://{}/", daemon.address));
    page.until("document.querySelector('.feed tbody time') !== null");
    page.until("document.querySelector('.empty').innerText.includes('No pending questions')");
    let shown = page.eval("document.querySelector('.empty').innerText");
    assert!(!shown.as_str().unwrap().contains("install"), "{shown}");
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn a_period_without_decisions_offers_a_longer_one() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let setup = crate::daemon::Setup::new();
    crate::data::old(&setup);
    let daemon = setup.start();
    let page = browser.person().window();
    page.goto(&format!("http://{}/statistics?period=day", daemon.address));
    page.until(
        "document.querySelector('.empty')?.innerText.includes('No decisions in this period')",
    );
    page.click(".empty a");
    page.until("document.querySelectorAll('.tile').length === 5");
    let tiles = page.eval("document.querySelector('.tiles').innerText");
    for part in [
        "p95 latency",
        "95\u{a0}% of decisions are at least this fast",
    ] {
        assert!(tiles.as_str().unwrap().contains(part), "{part} in {tiles}");
    }
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn paired_backticks_become_code_elements() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    page.goto(&format!("http://{}/", daemon.address));
    for (text, shown, code) in [
        ("`rm` deletes", "rm deletes", json!(["rm"])),
        ("runs `a` and `b`", "runs a and b", json!(["a", "b"])),
        ("one ` stays", "one ` stays", json!([])),
        ("`a` then `b", "a then `b", json!(["a"])),
        ("plain", "plain", json!([])),
        ("`<b>`\u{202e}", "<b>\\u{202e}", json!(["<b>"])),
    ] {
        let found = page.eval(&format!(
            "import('/console/dom.js').then(({{ prose }}) => {{ const made = prose('p', {}); return [made.textContent, [...made.querySelectorAll('code')].map((code) => code.textContent), made.querySelectorAll('b').length]; }})",
            Value::from(text)
        ));
        assert_eq!(found, json!([shown, code, 0]), "{text}");
    }
}
