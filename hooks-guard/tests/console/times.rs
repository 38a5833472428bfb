//! Tests the displayed times: relative, with the exact local time as the title.

use serde_json::json;

use crate::ask;
use crate::browser::Browser;
use crate::support::daemon::Daemon;

/// The first time in the table, as text, `datetime` and title.
const FIRST: &str = "(() => { const time = document.querySelector('tbody time'); return time && [time.textContent, time.dateTime, time.title]; })()";

#[test]
fn times_are_relative_and_updated() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    let id = ask(&daemon, "mkdir out");
    let record = daemon.record(&id);
    for path in ["/", "/trail", "/hooks"] {
        page.goto(&format!("http://{}{path}", daemon.address));
        page.until(&format!("{FIRST} !== null"));
        let shown = page.eval(FIRST);
        let text = shown[0].as_str().unwrap();
        assert!(
            text == "just now" || text.ends_with(" ago"),
            "{path}: {shown}"
        );
        let exact = page.eval(&format!(
            "new Intl.DateTimeFormat(undefined, {{ dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' }}).format(new Date('{}'))",
            shown[1].as_str().unwrap()
        ));
        assert_eq!(shown[2], exact, "{path}");
        // No event and no reload is needed.
        page.until(&format!("{FIRST}[0] !== {}", json!(text)));
        page.until(&format!("/^[0-9]+ s ago$/.test({FIRST}[0])"));
    }
    page.goto(&format!("http://{}/trail?id={id}", daemon.address));
    page.until("document.querySelector('dialog').open");
    let times = page.eval(
        "[...document.querySelectorAll('dialog dd time')].map((time) => [time.dateTime, time.textContent])",
    );
    // The exact time is displayed before the relative one.
    assert_eq!(times[0][0], record["timestamp"], "{times}");
    assert!(times[0][1].as_str().unwrap().contains("UTC"), "{times}");
    assert!(times[1][1].as_str().unwrap().ends_with(" ago"), "{times}");
}

#[test]
fn relative_times_use_a_fitting_unit() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    page.goto(&format!("http://{}/", daemon.address));
    for (seconds, wanted) in [
        (0, "just now"),
        (-2, "just now"),
        (5, "5 s ago"),
        (59, "59 s ago"),
        (61, "1 min ago"),
        (200, "3 min ago"),
        (3599, "59 min ago"),
        (3601, "1 h ago"),
        (86_000, "23 h ago"),
        (90_000, "1 day ago"),
        (200_000, "2 days ago"),
        (-241, "in 4 min"),
    ] {
        let text = page.eval(&format!(
            "import('/console/time.js').then(({{ when }}) => when(new Date(Date.now() - {seconds} * 1000).toISOString()).textContent)"
        ));
        assert_eq!(text, wanted, "{seconds}");
    }
    // After a week, the date is more useful.
    let text = page.eval(
        "import('/console/time.js').then(({ when }) => when('2024-02-03T14:05:06Z').textContent)",
    );
    assert!(
        text.as_str().unwrap().contains("Feb") && text.as_str().unwrap().contains("14:05"),
        "{text}"
    );
}

#[test]
fn a_tap_or_the_setting_shows_the_exact_time() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    ask(&daemon, "mkdir one");
    ask(&daemon, "mkdir two");
    let page = browser.person().window();
    page.looks(390, false);
    page.goto(&format!("http://{}/trail", daemon.address));
    let texts = "[...document.querySelectorAll('tbody time')].map((time) => time.textContent === time.title)";
    page.until("document.querySelectorAll('tbody time').length === 2");
    assert_eq!(page.eval(texts), json!([false, false]));
    page.click("tbody time");
    assert_eq!(page.eval(texts), json!([true, false]));
    // It stays exact.
    page.eval("new Promise((go) => setTimeout(go, 1200))");
    assert_eq!(page.eval(texts), json!([true, false]));
    page.click("tbody time");
    assert_eq!(page.eval(texts), json!([false, false]));

    // For all times, in all windows and pages of this browser.
    page.press("t");
    assert_eq!(page.eval(texts), json!([true, true]));
    page.click("tbody time");
    assert_eq!(page.eval(texts), json!([false, true]));
    page.goto(&format!("http://{}/hooks", daemon.address));
    page.until("document.querySelectorAll('tbody time').length === 2");
    assert_eq!(page.eval(texts), json!([true, true]));
    assert_eq!(
        page.eval("document.documentElement.scrollWidth <= innerWidth"),
        true
    );
    page.click("#open-settings");
    page.until("document.getElementById('setting-exact').checked");
    page.click("#setting-exact");
    assert_eq!(page.eval(texts), json!([false, false]));
    // Each step of a dispatch can be read without a title.
    page.press("Escape");
    page.click(".steps summary");
    let steps = page.eval("document.querySelector('.steps ol').innerText");
    assert!(
        steps.as_str().unwrap().contains("classify decided"),
        "{steps}"
    );
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn numbers_have_the_format_of_the_locale() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    for (locale, wanted) in [
        ("en-GB", ["12,345", "95%", "1.5\u{a0}s", "12.3k"]),
        ("de-DE", ["12.345", "95\u{a0}%", "1,5\u{a0}s", "12.345"]),
    ] {
        page.call("Emulation.setLocaleOverride", json!({ "locale": locale }));
        page.goto(&format!("http://{}/", daemon.address));
        let shown = page.eval(
            "Promise.all([import('/console/time.js'), import('/console/plot.js')]).then(([{ number, percent, took }, { short }]) => [number(12345), percent(0.95), took(1_500_000), short(12345)])",
        );
        // Numbers of a plot are compact if the locale has a short form.
        assert_eq!(shown, json!(wanted), "{locale}");
    }
}
