//! Tests the displayed times: relative, with the exact local time as the title.

use serde_json::json;

use crate::ask;
use crate::browser::Browser;
use crate::daemon::Daemon;

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
            "new Intl.DateTimeFormat(undefined, {{ dateStyle: 'medium', timeStyle: 'long', hour12: false }}).format(new Date('{}'))",
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
