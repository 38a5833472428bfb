//! Tests the appearance and the accessibility of the pages.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::json;

use crate::browser::{Browser, Page};
use crate::support::daemon::{Daemon, Setup};
use crate::{ask, data, signed_in, support};

const PAGES: [(&str, &str, &str); 4] = [
    (
        "inbox",
        "/",
        "document.querySelectorAll('article').length === 3",
    ),
    (
        "trail",
        "/trail",
        "document.querySelectorAll('tbody tr[data-id]').length === 50",
    ),
    (
        "statistics",
        "/statistics",
        "document.querySelectorAll('.panel svg').length === 7",
    ),
    (
        "hooks",
        "/hooks",
        "document.querySelectorAll('.lane').length > 20",
    ),
];
/// Widths and colour schemes of the checks with many states: each of both once.
const TWO_LOOKS: [(u32, bool); 2] = [(1280, true), (390, false)];

/// Package downloaded if it is not installed.
const AXE: &str = "axe-core@4.11.1";

/// Starts a daemon with a week of decisions and three questions that stay pending for `seconds`.
fn busy(seconds: u32) -> Daemon {
    let setup = Setup::new().config(&format!("approval_ttl_seconds = {seconds}"));
    data::week(&setup, 900);
    let daemon = setup.start();
    for command in [
        "git status",
        "rg TODO src",
        "cat Cargo.toml",
        "ls -la src",
        "git diff",
    ]
    .iter()
    .cycle()
    .take(24)
    {
        ask(&daemon, command);
    }
    ask(
        &daemon,
        "cd services/api && git pull --rebase && rm -rf target/debug node_modules && npm ci",
    );
    ask(
        &daemon,
        "curl -fsSL https://get.example.org/install.sh | sh",
    );
    ask(
        &daemon,
        "mkdir -p out/\u{202e}gpj.exe\u{202c} && touch out/\u{200b}notes.md",
    );
    daemon
}

#[track_caller]
fn open(page: &Page<'_>, daemon: &Daemon, path: &str, ready: &str) {
    page.goto(&signed_in(daemon).replace("/#", &format!("{path}#")));
    page.until(ready);
    page.until("document.getElementById('sign-out').hidden === false");
}

/// Returns the library that checks a page, from `AXE_CORE` or the npm registry; `None` if neither
/// has it. It is installed once for all tests.
#[track_caller]
pub(crate) fn axe() -> Option<&'static str> {
    static LIBRARY: OnceLock<Result<String, String>> = OnceLock::new();
    if std::env::var_os("AXE_CORE").is_none() && !support::has("npm") {
        return None;
    }
    match LIBRARY.get_or_init(install_axe) {
        Ok(library) => Some(library),
        Err(why) => {
            support::left_out(&format!("`{AXE}` cannot be had: {why}"));
            None
        }
    }
}

fn install_axe() -> Result<String, String> {
    if let Some(path) = std::env::var_os("AXE_CORE") {
        return Ok(std::fs::read_to_string(PathBuf::from(path)).unwrap());
    }
    let folder = tempfile::tempdir().unwrap();
    let installed = Command::new("npm")
        .args([
            "install",
            "--no-save",
            "--no-package-lock",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            AXE,
        ])
        .current_dir(&folder)
        .output()
        .unwrap();
    if !installed.status.success() {
        return Err(String::from_utf8_lossy(&installed.stderr).into_owned());
    }
    let library = folder.path().join("node_modules/axe-core/axe.min.js");
    Ok(std::fs::read_to_string(library).unwrap())
}

/// Returns what axe finds on a page.
#[track_caller]
pub(crate) fn violations(page: &Page<'_>, axe: &str, what: &str) -> Vec<String> {
    page.eval(&format!("{axe}; true"));
    let found = page.eval(
        "axe.run(document, { resultTypes: ['violations'] }).then((found) => found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target} ${node.failureSummary}`)))",
    );
    let found = found.as_array().unwrap();
    found.iter().map(|one| format!("{what}: {one}")).collect()
}

#[test]
fn notices_and_dialogs_have_no_accessibility_violations() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Some(axe) = axe() else {
        return;
    };
    let daemon = busy(1200);
    let one = Daemon::plain();
    ask(&one, "ls");
    let mut found: Vec<String> = Vec::new();
    let windows = PAGES.map(|(name, path, ready)| {
        let page = browser.person().window();
        open(&page, &daemon, path, ready);
        (page, name)
    });
    let page = browser.person().window();
    for (width, dark) in TWO_LOOKS {
        page.looks(width, dark);
        // Empty pages, and plots of one decision.
        for (path, ready) in [
            (
                "/trail?agent=x",
                "document.querySelector('.nothing') !== null",
            ),
            (
                "/statistics?period=all",
                "document.querySelectorAll('.panel').length === 7",
            ),
            ("/no/such/page", "document.querySelector('.empty') !== null"),
        ] {
            page.goto(&format!("http://{}{path}", one.address));
            page.until(ready);
            found.extend(violations(&page, axe, &format!("{path} {width} {dark}")));
        }
        for (button, dialog) in [("open-keys", "help"), ("open-settings", "settings")] {
            page.click(&format!("#{button}"));
            page.until(&format!("document.getElementById('{dialog}').open"));
            found.extend(violations(&page, axe, &format!("{dialog} {width} {dark}")));
            let wide = page.eval("document.documentElement.scrollWidth <= innerWidth");
            assert_eq!(wide, true, "{dialog} at {width}");
            page.press("Escape");
            page.until(&format!("!document.getElementById('{dialog}').open"));
        }
    }
    let address = daemon.address.clone();
    let setup = daemon.into_setup();
    let mut check = |name: &str| {
        for (page, title) in &windows {
            page.until(&format!(
                "document.querySelector('.notice')?.dataset.notice === '{name}'"
            ));
            for (width, dark) in TWO_LOOKS {
                page.looks(width, dark);
                found.extend(violations(
                    page,
                    axe,
                    &format!("{title} {name} {width} {dark}"),
                ));
                let wide = page.eval("document.documentElement.scrollWidth <= innerWidth");
                assert_eq!(wide, true, "{title} at {width}, {name}");
            }
        }
    };
    check("connection");
    let _daemon = setup.listen(Some(&address)).start();
    check("session");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_page_has_accessibility_violations() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let Some(axe) = axe() else {
        return;
    };
    let daemon = busy(1200);
    let page = browser.person().window();
    let mut found: Vec<String> = Vec::new();
    let mut check = |what: String| found.extend(violations(&page, axe, &what));
    for dark in [false, true] {
        for width in [1280, 390] {
            page.looks(width, dark);
            for (name, path, ready) in PAGES {
                open(&page, &daemon, path, ready);
                page.eval("document.querySelectorAll('details').forEach((details) => { details.open = true; })");
                check(format!("{name} {width} dark={dark}"));
            }
            page.goto(&format!("http://{}/trail", daemon.address));
            page.click("tbody .row-button");
            page.until("document.querySelector('dialog').open");
            check(format!("dialog {width} dark={dark}"));
        }
    }
    // A user who is not signed in.
    let stranger = browser.person().window();
    stranger.goto(&format!("http://{}/", daemon.address));
    stranger.until("document.getElementById('sign-in') !== null");
    stranger.eval(&format!("{axe}; true"));
    let violations =
        stranger.eval("axe.run().then((found) => found.violations.map((rule) => rule.id))");
    assert_eq!(violations, json!([]));
    assert!(found.is_empty(), "{found:#?}");
}

/// States of the inbox that an answer goes through, each with the clicks that lead to it.
const STATES: [(&str, &[&str]); 6] = [
    ("second step", &["article[data-effect=DELETE] [data-key=a]"]),
    ("note", &["article [data-key=N]"]),
    ("selection", &["article[data-effect=DELETE] .select"]),
    (
        "selection step",
        &[
            "article[data-effect=DELETE] .select",
            ".selection [data-batch=approve]",
        ],
    ),
    ("revocation", &[".remembered [data-revoke]"]),
    ("undo", &["article[data-effect=UPDATE] [data-key=n]"]),
];

#[test]
fn answers_fit_the_viewport_without_accessibility_violations() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let axe = axe();
    let daemon = Daemon::plain();
    let remembered = ask(&daemon, "mkdir remembered");
    let body = json!({ "id": remembered, "response": "APPROVED", "remember": "always" });
    daemon.respond_with(&body).ok();
    let page = browser.person().window();
    let mut found: Vec<String> = Vec::new();
    for (width, dark) in TWO_LOOKS {
        page.looks(width, dark);
        for (name, clicks) in STATES {
            for command in ["rm -r build", "git push", "git push"] {
                ask(&daemon, command);
            }
            let ready = "document.querySelectorAll('article').length === 2 && document.querySelector('.remembered li') !== null";
            open(&page, &daemon, "/", ready);
            clicks.iter().for_each(|selector| page.click(selector));
            let state = format!("{name} {width} dark={dark}");
            if name == "undo" {
                page.until("!document.querySelector('.undo-bar').hidden");
            }
            if let Some(axe) = axe {
                found.extend(violations(&page, axe, &state));
            }
            let wide = page.eval("document.documentElement.scrollWidth");
            if wide.as_u64().unwrap() > u64::from(width) {
                found.push(format!("{state}: {wide} wide"));
            }
            for pending in daemon.pending() {
                // The denial by a click may have taken effect.
                let _ = daemon.respond(&pending["id"], "DENIED");
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_page_is_wider_than_its_viewport() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = busy(1200);
    let page = browser.person().window();
    for width in [1280, 390, 320] {
        page.looks(width, false);
        for (name, path, ready) in PAGES {
            open(&page, &daemon, path, ready);
            let wide = page.eval("document.documentElement.scrollWidth");
            assert!(
                wide.as_u64().unwrap() <= u64::from(width),
                "{name} is {wide} wide at {width}"
            );
        }
    }
}

#[test]
fn every_page_has_landmarks_and_a_skip_link() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = busy(1200);
    let page = browser.person().window();
    for (name, path, ready) in PAGES {
        open(&page, &daemon, path, ready);
        let marks = page.eval("['header', 'nav', 'main', 'h1', 'a.skip'].map((mark) => document.querySelectorAll(mark).length)");
        assert!(marks[0].as_u64().unwrap() >= 1, "{name}");
        assert_eq!(
            (&marks[2], &marks[3], &marks[4]),
            (&json!(1), &json!(1), &json!(1)),
            "{name}: {marks}"
        );
        assert_eq!(
            page.eval("document.querySelectorAll('nav a[aria-current=page]').length"),
            1,
            "{name}"
        );
        page.press("Tab");
        assert_eq!(
            page.eval("document.activeElement.className"),
            "skip",
            "{name}"
        );
    }
    assert_eq!(browser.console_errors(), [""; 0]);
}

/// Updates the pictures in the book:
/// `HOOKS_PICTURES=1 cargo test -p hooks-guard --test console pictures`.
#[test]
fn pictures_of_every_page_are_in_the_book() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/images"));
    let looks = [(1280, false), (1280, true), (390, false), (390, true)];
    let path = |name: &str, width: u32, dark: bool| {
        let shade = if dark { "dark" } else { "light" };
        folder.join(format!("console-{name}-{width}-{shade}.png"))
    };
    if std::env::var_os("HOOKS_PICTURES").is_some()
        && let Some(browser) = Browser::start()
    {
        let daemon = busy(300);
        let page = browser.person().window();
        for (width, dark) in looks {
            page.looks(width, dark);
            for (name, target, ready) in PAGES {
                open(&page, &daemon, target, ready);
                page.until("!document.getElementById('waiting').hidden");
                page.picture(&path(name, width, dark));
            }
        }
    }
    for (width, dark) in looks {
        for (name, ..) in PAGES {
            let path = path(name, width, dark);
            let bytes = std::fs::metadata(&path)
                .map(|file| file.len())
                .unwrap_or_default();
            assert!(
                (1..200_000).contains(&bytes),
                "{}: {bytes} bytes",
                path.display()
            );
        }
    }
}
