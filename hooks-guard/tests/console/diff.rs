//! Tests the changes of a file tool in a browser.

use hooks_runtime::display::hides_text;
use serde_json::{Value, json};

use crate::browser::{Browser, Page};
use crate::look::{axe, violations};
use crate::support::client::Request;
use crate::support::daemon::Daemon;
use crate::{card, open};

const DIFF: &str = "@@ -8,4 +8,5 @@ fn main() {\n     let answer = 41;\n-    println!(\"{answer}\");\n\
                    +    let answer = answer + 1;\n+\tprintln!(\"{answer}\");\n     run();\n }\n";

fn edit(files: &Value) -> Value {
    json!({
        "command": "Edit src/main.rs", "agent": "codex", "session_id": "s1", "cwd": "/srv/ada/atlas",
        "file": {"tool": "Edit", "effect": "UPDATE", "paths": ["src/main.rs"]},
        "changes": files.as_array().map(|files| json!({"files": files})),
    })
}

fn file(diff: &str) -> Value {
    json!({"path": "src/main.rs", "kind": "edit", "diff": diff})
}

/// Returns the rows of a diff: class, old line, new line, mark and text.
fn rows(page: &Page<'_>, card: &str) -> Value {
    page.until(&format!(
        "document.querySelector('{card} .diff tbody tr') !== null"
    ));
    page.eval(&format!(
        "[...document.querySelectorAll('{card} .diff tbody tr')].map((row) => \
         [row.className, ...[...row.cells].map((cell) => cell.textContent)])"
    ))
}

#[test]
fn a_card_shows_the_diff_with_line_numbers_and_marks() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = open(&browser, &daemon);
    let id = daemon.post(&edit(&json!([file(DIFF)]))).ok()["id"].clone();
    let card = card(&page, &id);
    assert_eq!(
        rows(&page, &card),
        json!([
            ["hunk", "", "", "", "@@ -8,4 +8,5 @@ fn main() {"],
            ["same", "8", "8", " ", "    let answer = 41;"],
            ["removed", "9", "", "−", "    println!(\"{answer}\");"],
            ["added", "", "9", "+", "    let answer = answer + 1;"],
            ["added", "", "10", "+", "\tprintln!(\"{answer}\");"],
            ["same", "10", "11", " ", "    run();"],
            ["same", "11", "12", " ", "}"],
        ])
    );
    let counts = page.eval(&format!(
        "document.querySelector('{card} .change-counts').textContent"
    ));
    assert_eq!(counts, "edits src/main.rs +2 −1");
    // The answered card and the record have no diff.
    page.click(&format!("{card} button[data-key=n]"));
    page.until(&format!("document.querySelector('{card}') === null"));
    page.goto(&format!("http://{}/trail?id={id}", daemon.address));
    page.until("document.querySelector('dialog').open");
    assert_eq!(
        page.eval("document.querySelector('dialog .changes').textContent"),
        ""
    );
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn changes_that_arrive_after_the_question_are_shown() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = open(&browser, &daemon);
    let permission = daemon.post(&edit(&Value::Null)).ok();
    let id = &permission["id"];
    let card = card(&page, id);
    let text = format!("document.querySelector('{card} .changes').textContent");
    assert_eq!(page.eval(&text), "");
    let body = json!({"secret": permission["secret"], "changes": {"files": [file("+late\n")], "omitted_files": 3}});
    let target = format!("/api/hooks/decisions/{id}/changes");
    daemon.send(&Request::new("POST", &target).json(&body)).ok();
    assert_eq!(rows(&page, &card), json!([["added", "", "", "+", "late"]]));
    assert!(
        page.eval(&text)
            .as_str()
            .unwrap()
            .contains("… 3 more files")
    );
    // The record on the trail's page, too.
    page.goto(&format!("http://{}/trail?id={id}", daemon.address));
    page.until("document.querySelector('dialog .diff') !== null");
}

#[test]
fn only_the_operator_sees_the_lines() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let id = daemon.post(&edit(&json!([file(DIFF)]))).ok()["id"].clone();
    let page = browser.person().window();
    page.goto(&format!("http://{}/", daemon.address));
    let card = card(&page, &id);
    let text = format!("document.querySelector('{card} .changes').textContent");
    page.until(&format!(
        "{text} === '1 file +2 −1Sign in to see the changed lines.'"
    ));
    assert!(
        !page
            .eval("document.body.innerText")
            .as_str()
            .unwrap()
            .contains("println")
    );
    page.click("#token");
    page.write(crate::support::daemon::TOKEN);
    page.press("Enter");
    assert_eq!(rows(&page, &card).as_array().unwrap().len(), 7);
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn text_of_a_diff_is_escaped_and_never_markup() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = open(&browser, &daemon);
    let diff = "@@ <b>x</b>\n+<img src=x onerror=alert(1)>\n+a\u{202e}b\u{200b}c\r\n-\u{1b}[2J\n\
                \\ <i>no newline</i>\n";
    let mut changed = file(diff);
    changed["path"] = "a\u{202e}<b>.rs".into();
    changed["notes"] = json!(["<script>alert(1)</script>\u{202e}"]);
    let id = daemon.post(&edit(&json!([changed]))).ok()["id"].clone();
    let card = card(&page, &id);
    let rows = rows(&page, &card);
    assert_eq!(
        rows[1],
        json!(["added", "", "", "+", "<img src=x onerror=alert(1)>"])
    );
    assert_eq!(
        rows[2],
        json!(["added", "", "", "+", "a\\u{202e}b\\u{200b}c\\r"])
    );
    assert_eq!(rows[3], json!(["removed", "", "", "−", "\\u{1b}[2J"]));
    assert_eq!(rows[4][0], "annotation");
    let inside = page.eval(&format!(
        "document.querySelector('{card} .changes').textContent"
    ));
    assert!(!hides_text(inside.as_str().unwrap()), "{inside}");
    assert!(
        inside
            .as_str()
            .unwrap()
            .contains("<script>alert(1)</script>\\u{202e}"),
        "{inside}"
    );
    let made = page.eval(&format!(
        "document.querySelectorAll('{card} :is(img, b, i, script)').length"
    ));
    assert_eq!(made, 0);
    let label = page.eval(&format!(
        "document.querySelector('{card} .diff').getAttribute('aria-label')"
    ));
    assert_eq!(label, "Change of a\\u{202e}<b>.rs");
}

#[test]
fn a_diff_scrolls_in_its_box_by_key_and_fits_every_width() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let axe = axe();
    let daemon = Daemon::plain();
    let page = open(&browser, &daemon);
    let long = format!(
        "@@ -0,0 +1,300 @@\n+{}\n{}",
        "x".repeat(1_500),
        "+line\n".repeat(299)
    );
    let mut changed = file(&long);
    changed["omitted_lines"] = 1_203.into();
    changed["notes"] = json!(["the present content is not shown: it is binary or not UTF-8"]);
    let mut deleted = file("@@ -1,2 +0,0 @@\n-API_KEY=abcdefghijklmnop\n-b\n");
    deleted["kind"] = "delete".into();
    let id = daemon
        .post(&edit(&json!([changed, file(DIFF), deleted])))
        .ok()["id"]
        .clone();
    let card = card(&page, &id);
    rows(&page, &card);
    let text = page.eval(&format!(
        "document.querySelector('{card} .changes').textContent"
    ));
    let text = text.as_str().unwrap();
    for part in [
        "3 files",
        "… 1,203 more lines",
        "Secrets are hidden",
        "API_KEY=[secret]",
        "deletes ",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let found = format!("document.querySelector('{card} .diff')");
    // Keys scroll the focused diff, and do not move to another question.
    page.eval(&format!("{found}.focus()"));
    page.press("End");
    page.until(&format!("{found}.scrollTop > 0"));
    assert_eq!(page.eval("document.activeElement.className"), "diff");
    for dark in [false, true] {
        for width in [1280, 390, 320] {
            page.looks(width, dark);
            let wide = page.eval("document.documentElement.scrollWidth");
            assert!(
                wide.as_u64().unwrap() <= u64::from(width),
                "{wide} at {width}"
            );
            let inside = page.eval(&format!("{found}.scrollWidth <= {found}.clientWidth"));
            assert_eq!(inside, true, "long lines wrap at {width}");
            let high = page.eval(&format!("{found}.clientHeight < {found}.scrollHeight"));
            assert_eq!(high, true, "at {width}");
            if let Some(axe) = axe {
                let violations = violations(&page, axe, &format!("{width} dark={dark}"));
                assert_eq!(violations, [""; 0]);
            }
            if let Some(pictures) = std::env::var_os("HOOKS_DIFF_PICTURES") {
                page.eval(&format!("document.querySelectorAll('{card} .change')[1].scrollIntoView({{ block: 'center' }})"));
                let name = format!("{width}-{dark}.png");
                page.picture(&std::path::Path::new(&pictures).join(name));
            }
        }
    }
}
