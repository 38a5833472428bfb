//! Tests the trail, the statistics and the hooks in a browser, and the exports.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::support::daemon::{Daemon, Setup};
use crate::{answer, ask, data, signed_in};

fn page_url(daemon: &Daemon, path: &str) -> String {
    format!("http://{}{path}", daemon.address)
}

/// The classes of the displayed rows.
const CLASSES: &str =
    "[...document.querySelectorAll('tbody .badge')].map((badge) => badge.textContent)";

#[test]
fn filters_are_in_the_url_and_apply_to_the_export() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    for command in ["ls", "mkdir out", "touch x", "mkdir other"] {
        ask(&daemon, command);
    }
    let page = browser.person().window();
    page.goto(&page_url(&daemon, "/trail"));
    page.until("document.querySelectorAll('tbody tr').length === 4");
    page.eval("{ const select = document.getElementById('classification'); select.value = 'CREATE'; select.dispatchEvent(new Event('change', { bubbles: true })); }");
    page.until("location.search === '?classification=CREATE'");
    page.until("document.querySelectorAll('tbody tr[data-id]').length === 3");
    assert_eq!(page.eval(CLASSES), json!(["CREATE", "CREATE", "CREATE"]));
    page.click("#command_filter");
    page.write("MKDIR");
    page.press("Enter");
    page.until("new URLSearchParams(location.search).get('command_filter') === 'MKDIR'");
    page.until("document.querySelectorAll('tbody tr[data-id]').length === 2");
    // The address shows this list to every user.
    let search = page.eval("location.search");
    let other = browser.person().window();
    other.goto(&page_url(
        &daemon,
        &format!("/trail{}", search.as_str().unwrap()),
    ));
    other.until("document.querySelectorAll('tbody tr[data-id]').length === 2");
    assert_eq!(
        other.eval("document.getElementById('command_filter').value"),
        "MKDIR"
    );
    assert_eq!(
        other.eval("document.getElementById('classification').value"),
        "CREATE"
    );
    let link = other.eval("document.querySelector('a[download$=csv]').getAttribute('href')");
    let table = daemon.get(link.as_str().unwrap()).text();
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(
        table.lines().skip(1).all(|line| line.contains("mkdir")),
        "{table}"
    );
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn filters_accept_the_values_that_the_table_prints() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let setup = Setup::new().config("approval_ttl_seconds = 1");
    let daemon = setup.start();
    for command in ["ls", "mkdir a", "mkdir b", "mkdir c"] {
        let id = ask(&daemon, command);
        let response = match command {
            "mkdir a" => "APPROVED",
            "mkdir b" => "DENIED",
            "mkdir c" => {
                // The service expires the question.
                while answer(&daemon, &id) != "TIMEOUT" {
                    thread::sleep(Duration::from_millis(50));
                }
                continue;
            }
            _ => continue,
        };
        daemon.respond(&id, response).ok();
    }
    let page = browser.person().window();
    let outcomes = "[...document.querySelectorAll('tbody .outcome')].map((one) => one.textContent)";
    for (outcome, spellings) in [
        ("allowed", &["allowed", "Allowed"][..]),
        ("approved", &["approved", "APPROVED"]),
        ("denied", &["denied", "DENIED"]),
        ("timed out", &["timed+out", "TIMEOUT", "timeout"]),
    ] {
        for spelling in spellings {
            page.goto(&page_url(&daemon, &format!("/trail?response={spelling}")));
            page.until(&format!("JSON.stringify({outcomes}) === '[\"{outcome}\"]'"));
            assert_eq!(
                page.eval("document.getElementById('response').selectedOptions[0].textContent"),
                outcome
            );
            let link =
                page.eval("document.querySelector('a[download$=jsonl]').getAttribute('href')");
            let exported = daemon.get(link.as_str().unwrap()).text();
            assert_eq!(exported.lines().count(), 1, "{spelling}: {exported}");
        }
    }
    page.goto(&page_url(&daemon, "/trail?classification=create"));
    page.until("document.querySelectorAll('tbody tr[data-id]').length === 3");
    assert_eq!(
        page.eval("document.getElementById('classification').value"),
        "CREATE"
    );
    // What no decision prints is an error, and not a list without the filter.
    page.goto(&page_url(&daemon, "/trail?response=maybe"));
    page.until(
        "document.getElementById('found').textContent.includes('Invalid response filter: maybe')",
    );
    assert_eq!(
        page.eval("document.querySelectorAll('tbody tr[data-id]').length"),
        0
    );
}

/// Left edges of the table's columns and of the links to the pages.
const EDGES: &str = "[...document.querySelectorAll('main tbody tr:first-child td, nav a')].map((cell) => Math.round(cell.getBoundingClientRect().x))";

#[test]
fn columns_and_links_keep_their_place_when_live() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    for path in ["/trail", "/"] {
        ask(&daemon, "ls");
        page.goto(&page_url(&daemon, path));
        page.until("document.querySelector('main tbody td') !== null");
        let before = page.eval(EDGES);
        let body = json!({ "command": "mkdir a-directory-with-a-long-name/and/another/one", "agent": "an agent with a long name", "cwd": "/", "session_id": "s1" });
        let id = daemon.post(&body).ok()["id"].clone();
        page.until("document.title.startsWith('(1)')");
        if path == "/trail" {
            page.goto(&page_url(&daemon, path));
        }
        page.until("document.querySelector('main tbody .outcome')?.textContent === 'pending'");
        assert_eq!(page.eval(EDGES), before, "{path}, pending");
        daemon.respond(&id, "DENIED").ok();
        page.until("document.querySelector('main tbody .outcome')?.textContent === 'denied'");
        page.until("/^[0-9]+ s ago$/.test(document.querySelector('main tbody time').textContent)");
        page.until("!document.title.startsWith('(')");
        assert_eq!(page.eval(EDGES), before, "{path}, denied");
    }
}

#[test]
fn a_failed_read_keeps_what_is_known_and_can_be_repeated() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    ask(&daemon, "mkdir out");
    let page = browser.person().window();
    let source = r#"
        const real = window.fetch;
        window.broken = location.pathname === "/trail";
        window.fetch = async (path, init) => {
            const fails = window.broken && ["decisions", "stats", "registered"].some((name) => path.startsWith(`/api/hooks/${name}`));
            return fails ? new Response(JSON.stringify({ error: "Too much at once", code: "BUSY" }), { status: 503 }) : real(path, init);
        };
    "#;
    page.before_load(source);
    page.goto(&page_url(&daemon, "/trail"));
    page.until("document.getElementById('found').textContent === 'Too much at once'");
    page.eval("window.broken = false");
    page.click(".nothing button");
    page.until("document.querySelectorAll('tbody tr[data-id]').length === 1");
    for (path, known) in [
        (
            "/statistics",
            "document.querySelectorAll('.panel').length === 7",
        ),
        ("/hooks", "document.querySelectorAll('.lane').length > 0"),
    ] {
        page.goto(&page_url(&daemon, path));
        page.until(known);
        page.eval("window.broken = true");
        // Both changes cause another read.
        page.looks(1000, false);
        ask(&daemon, "ls");
        page.until("document.querySelector('main > .problem').textContent === 'Too much at once'");
        page.until(known);
        page.eval("window.broken = false");
        page.looks(1280, false);
        ask(&daemon, "ls");
        page.until("document.querySelector('main > .problem').textContent === ''");
    }
}

#[test]
fn a_decision_is_shown_with_all_fields_and_has_a_url() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let id = ask(&daemon, "mkdir out");
    let page = browser.person().window();
    page.goto(&page_url(&daemon, "/trail"));
    page.click("tbody .row-button");
    page.until("document.querySelector('dialog').open");
    assert_eq!(
        page.eval("new URLSearchParams(location.search).get('id')"),
        id.to_string()
    );
    let record = daemon.record(&id);
    let text = page.eval("document.querySelector('dialog').innerText");
    for field in ["reasoning", "explanation", "agent", "session_id", "cwd"] {
        // Backticks mark code.
        let wanted = record[field].as_str().unwrap().replace('`', "");
        assert!(text.as_str().unwrap().contains(&wanted), "{field}: {text}");
    }
    page.press("Escape");
    page.until("!document.querySelector('dialog').open && location.search === ''");
    page.goto(&page_url(&daemon, &format!("/trail?id={id}")));
    page.until("document.querySelector('dialog').open");
}

#[test]
fn pages_of_the_trail_show_every_decision_once() {
    let Some(browser) = Browser::start() else {
        return;
    };
    for fill in [data::week, data::moment] {
        let setup = Setup::new();
        fill(&setup, 130);
        turn_all_pages(&browser, &setup.start());
    }
}

fn turn_all_pages(browser: &Browser, daemon: &Daemon) {
    let page = browser.person().window();
    page.goto(&page_url(daemon, "/trail"));
    let mut seen: Vec<i64> = Vec::new();
    for expected in [50, 50, 30] {
        page.until(&format!(
            "document.querySelectorAll('tbody tr[data-id]').length === {expected}"
        ));
        let ids = page.eval("[...document.querySelectorAll('tbody tr[data-id]')].map((row) => Number(row.dataset.id))");
        seen.extend(ids.as_array().unwrap().iter().filter_map(Value::as_i64));
        if expected == 50 {
            let first = ids[0].clone();
            page.click("a[rel=next]");
            page.until(&format!("document.querySelector('tbody tr[data-id]')?.dataset.id !== '{first}' && document.querySelector('tbody tr[data-id]') !== null"));
        }
    }
    let wanted: Vec<i64> = (1..=130).rev().collect();
    assert_eq!(seen, wanted);
    assert_eq!(
        page.eval("document.querySelector('a[rel=next]')"),
        Value::Null
    );
}

#[test]
fn the_trail_page_follows_events() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let id = ask(&daemon, "mkdir out");
    let page = browser.person().window();
    page.goto(&page_url(&daemon, "/trail"));
    let outcome = format!("document.querySelector('tr[data-id=\"{id}\"] .outcome')?.textContent");
    page.until(&format!("{outcome} === 'pending'"));
    daemon.respond(&id, "DENIED").ok();
    page.until(&format!("{outcome} === 'denied'"));
    assert_eq!(answer(&daemon, &id), "DENIED");
    ask(&daemon, "ls");
    page.until("document.querySelector('main').innerText.includes('1 new decision')");
}

#[test]
fn csv_cells_that_look_like_formulas_are_quoted() {
    let daemon = Daemon::plain();
    for command in ["=HYPERLINK(\"x\")", "+1+1", "@SUM(1)", "-2"] {
        ask(&daemon, command);
    }
    let answer = daemon.get("/api/hooks/export?format=csv");
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        Some("text/csv; charset=utf-8")
    );
    assert!(
        answer
            .header("content-disposition")
            .unwrap()
            .starts_with("attachment")
    );
    let table = answer.text();
    for cell in [
        "\"'=HYPERLINK(\"\"x\"\")\"",
        "\"'+1+1\"",
        "\"'@SUM(1)\"",
        "\"'-2\"",
    ] {
        assert!(table.contains(cell), "{cell} in {table}");
    }
    let lines = daemon.get("/api/hooks/export?format=jsonl").text();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["command"], "=HYPERLINK(\"x\")");
    daemon
        .get("/api/hooks/export?format=xls")
        .error(400, "INVALID_FILTER");
    daemon
        .get("/api/hooks/export?classification=X")
        .error(400, "INVALID_FILTER");
}

#[test]
fn every_plot_of_the_statistics_has_a_table() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let setup = Setup::new();
    data::week(&setup, 300);
    let daemon = setup.start();
    let page = browser.person().window();
    page.goto(&page_url(&daemon, "/statistics?period=all"));
    page.until("document.querySelectorAll('.panel svg').length === 7");
    assert_eq!(
        page.eval("document.querySelectorAll('.panel details table').length"),
        7
    );
    // The plot of the classes shows the service's counts.
    let sums = page.eval(
        "[...document.querySelectorAll('.panel.broad tbody tr')].reduce((sums, row) => sums.map((sum, at) => sum + Number(row.children[at + 1].textContent.replaceAll(',', ''))), [0, 0, 0, 0])",
    );
    let stats = daemon.get("/api/hooks/stats").ok();
    let classes = &stats["classifications"];
    assert_eq!(
        sums,
        json!([
            classes["read"],
            classes["create"],
            classes["update"],
            classes["delete"]
        ])
    );
    let series = daemon.get("/api/hooks/series").ok();
    assert_eq!(series["step_seconds"], 86_400);
    assert_eq!(series["programs_of"], 300);
    let sum = |field: &str| -> u64 {
        series["points"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| point[field].as_u64().unwrap())
            .sum()
    };
    assert_eq!(
        sum("approved"),
        stats["user_responses"]["approved"].as_u64().unwrap()
    );
    assert_eq!(
        sum("denied"),
        stats["user_responses"]["denied"].as_u64().unwrap()
    );
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn the_hooks_page_lists_hooks_in_order_with_the_last_requests() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let id = ask(&daemon, "mkdir out");
    ask(&daemon, "ls");
    let found = daemon.get("/api/hooks/registered").ok();
    assert_eq!(found["slots"][0]["slot"], "classify");
    let slot = &found["slots"][0];
    assert_eq!(slot["policy"], "the first classification decides");
    assert_eq!(slot["entries"][0]["name"], "Classifier");
    assert_eq!(slot["entries"][0]["on_failure"], "fail closed");
    for runs in [&slot["runs"], &slot["entries"][0]["runs"]] {
        assert_eq!(runs["runs"], 2);
        assert_eq!(runs["decided"], 2);
        assert_eq!(runs["failed"], 0);
        assert!(runs["last_us"].as_u64().is_some());
    }
    let steps = |at: usize| -> Vec<(String, String)> {
        let steps = found["dispatches"][at]["steps"].as_array().unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        steps
            .iter()
            .map(|step| (text(&step["name"]), text(&step["run"])))
            .collect()
    };
    let wanted = |approvals: &str| {
        [
            ("classify", "decided"),
            ("rules", "ran"),
            ("approvals", approvals),
            ("trail", "ran"),
        ]
        .map(|(name, run)| (name.to_owned(), run.to_owned()))
    };
    assert_eq!(found["dispatches"][1]["id"], id);
    assert_eq!(steps(1), wanted("ran"));
    assert_eq!(steps(0), wanted("skipped"), "a read needs no approval");
    let page = browser.person().window();
    page.goto(&signed_in(&daemon).replace("/#", "/hooks#"));
    page.until("document.querySelectorAll('.lane').length === 2");
    let text = page.eval("document.querySelector('main').innerText");
    for shown in [
        "the first classification decides",
        "Classifier",
        "fail closed",
    ] {
        assert!(text.as_str().unwrap().contains(shown), "{text}");
    }
    // The list grows without a reload.
    ask(&daemon, "ls");
    page.until("document.querySelectorAll('.lane').length === 3");
    assert_eq!(browser.console_errors(), [""; 0]);
}
