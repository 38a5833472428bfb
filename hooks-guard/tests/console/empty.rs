//! Tests what the pages show without decisions, and what they suggest to do next.

use serde_json::{Value, json};

use crate::ask;
use crate::browser::Browser;
use crate::support::daemon::Daemon;

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
    page.until("document.querySelector('.nothing a').textContent === 'clear filters'");
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
    let setup = crate::support::daemon::Setup::new();
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
    for part in ["p95 latency", "95% of decisions are at least this fast"] {
        assert!(tiles.as_str().unwrap().contains(part), "{part} in {tiles}");
    }
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn a_single_decision_is_a_dot_with_its_value() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    ask(&daemon, "ls");
    let page = browser.person().window();
    for period in ["day", "all"] {
        page.goto(&format!(
            "http://{}/statistics?period={period}",
            daemon.address
        ));
        page.until("document.querySelectorAll('.panel').length === 7");
        let stats = daemon.get("/api/hooks/stats").ok();
        let drawn = |name: &str| {
            page.eval(&format!(
                "(() => {{ const panel = document.querySelector('section[aria-label=\"{name}\"]'); return [panel.querySelectorAll('circle.dot').length, panel.querySelectorAll('polyline').length, [...panel.querySelectorAll('text.value')].map((text) => text.textContent)]; }})()"
            ))
        };
        let ms = &stats["performance"]["p95_response_time_ms"];
        assert_eq!(
            drawn("Latency"),
            json!([
                3,
                0,
                [
                    format!("p50 {ms}"),
                    format!("p95 {ms}"),
                    format!("p99 {ms}")
                ]
            ]),
            "{period}"
        );
        let confidence = stats["confidence"]["avg_confidence"].as_f64().unwrap();
        let percent = format!("{:.0}%", confidence * 100.0);
        assert_eq!(drawn("Confidence over time"), json!([1, 0, [percent]]));
        assert_eq!(drawn("Decisions by class"), json!([0, 0, ["1"]]));
        // The values do not cover each other, and are inside the plot.
        let overlap = page.eval(
            "(() => { const boxes = [...document.querySelectorAll('section[aria-label=Latency] text.value')].map((text) => text.getBoundingClientRect()); const plot = document.querySelector('section[aria-label=Latency] svg').getBoundingClientRect(); return boxes.some((one) => one.top < plot.top || one.bottom > plot.bottom || one.right > plot.right) || boxes.some((one, at) => boxes.slice(at + 1).some((other) => one.top < other.bottom - 3 && other.top < one.bottom - 3)); })()",
        );
        assert_eq!(overlap, false);
        // Without answers there is a next step in place of an empty plot.
        let answers = page.eval("document.querySelector('section[aria-label=Answers]').innerText");
        assert!(
            answers
                .as_str()
                .unwrap()
                .contains("No answers in this period; approve or deny a question"),
            "{answers}"
        );
        assert_eq!(drawn("Answers"), json!([0, 0, []]));
    }
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn an_unknown_address_is_a_page_with_navigation() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    for path in ["/no/such/<b>page", "/trail/", "/console/nothing"] {
        page.goto(&format!("http://{}{path}", daemon.address));
        page.until("document.title === 'Page not found · hooks-guard'");
        let shown = page.eval("[document.title, document.querySelector('h1').textContent, document.querySelectorAll('nav a').length, document.querySelectorAll('nav a[aria-current]').length]");
        assert_eq!(
            shown,
            json!(["Page not found · hooks-guard", "Page not found", 4, 0])
        );
    }
    // It follows events, as all pages do.
    ask(&daemon, "mkdir out");
    page.until("document.title === '(1) Page not found · hooks-guard'");
    page.click("main a");
    page.until("document.querySelectorAll('article').length === 1");
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
