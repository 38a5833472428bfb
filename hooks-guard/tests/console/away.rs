//! Tests what the pages show while the service is away, refuses its events, or has ended the session.

use serde_json::{Value, json};

use crate::browser::{Browser, Page};
use crate::support::daemon::{Daemon, TOKEN};
use crate::{ask, card, signed_in};

const PAGES: [&str; 5] = [
    "/",
    "/trail",
    "/statistics?period=all",
    "/hooks",
    "/no/such/page",
];

/// The text of a notice across the page; `null` without the notice.
fn notice(page: &Page<'_>, name: &str) -> Value {
    page.eval(&format!(
        "document.querySelector('.notice[data-notice={name}]')?.innerText ?? null"
    ))
}

/// Waits for a notice, and returns its text.
#[track_caller]
fn until_notice(page: &Page<'_>, name: &str) -> String {
    page.until(&format!(
        "document.querySelector('.notice[data-notice={name}]') !== null"
    ));
    notice(page, name).as_str().unwrap().to_owned()
}

#[track_caller]
fn until_no_notice(page: &Page<'_>, name: &str) {
    page.until(&format!(
        "document.querySelector('.notice[data-notice={name}]') === null"
    ));
}

#[test]
fn a_lost_connection_is_shown_across_every_page() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    ask(&daemon, "ls");
    let windows = PAGES.map(|path| {
        let page = browser.person().window();
        if path == "/hooks" {
            page.looks(390, true);
        }
        page.goto(&format!("http://{}{path}", daemon.address));
        assert_eq!(notice(&page, "connection"), Value::Null, "{path}");
        page
    });
    windows[0].until("document.querySelector('.empty').innerText.includes('No pending questions')");
    windows[1].until("document.querySelectorAll('tbody tr[data-id]').length === 1");
    let address = daemon.address.clone();
    let setup = daemon.into_setup();
    for (page, path) in windows.iter().zip(PAGES) {
        let text = until_notice(page, "connection");
        for part in [
            "No connection to the service since ",
            "UTC (",
            "shows the last known state",
            "hooks-guard serve",
        ] {
            assert!(text.contains(part), "{path}: {part} in {text}");
        }
        let shape = page.eval(
            "(() => { scrollTo(0, document.documentElement.scrollHeight); const box = document.querySelector('.notice').getBoundingClientRect(); return [box.x, box.width === innerWidth, box.top >= 0 && box.bottom <= innerHeight]; })()",
        );
        assert_eq!(shape, json!([0, true, true]), "{path}");
        // The read that the stop of the service interrupted fails after the connection is lost.
        page.until("document.title.startsWith('(?)')");
        let all = page.eval("document.title + document.body.innerText");
        let all = all.as_str().unwrap().to_lowercase();
        assert!(!all.contains("no pending"), "{path}: {all}");
        assert!(all.starts_with("(?) "), "{path}: {all}");
    }
    // The last known decision stays.
    assert_eq!(
        windows[1].eval("document.querySelectorAll('tbody tr[data-id]').length"),
        1
    );
    let _daemon = setup.listen(Some(&address)).start();
    windows[0].click(".notice button");
    for page in &windows {
        until_no_notice(page, "connection");
        assert_eq!(page.eval("document.getElementById('banner').hidden"), true);
    }
}

#[test]
fn a_suspended_service_is_shown_as_away() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    page.goto(&format!("http://{}/", daemon.address));
    page.until("document.querySelector('.empty').innerText.includes('No pending questions')");
    daemon.signal("STOP");
    // Without waiting for the time in which the service would have sent something.
    page.eval("{ const now = Date.now; Date.now = () => now() + 41_000; }");
    until_notice(&page, "connection");
    daemon.signal("CONT");
    until_no_notice(&page, "connection");
    card(&page, &ask(&daemon, "mkdir out"));
}

#[test]
fn an_ended_session_is_shown_until_the_operator_signs_in() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    page.goto(&signed_in(&daemon).replace("/#", "/trail#"));
    page.until("document.getElementById('sign-out').hidden === false");
    let address = daemon.address.clone();
    let daemon = daemon.restart(|setup| setup.listen(Some(&address)));
    let text = until_notice(&page, "session");
    assert!(text.contains("Your session has ended"), "{text}");
    until_no_notice(&page, "connection");
    // The notice stays on the next page, and leads to the form.
    page.goto(&format!("http://{address}/hooks"));
    until_notice(&page, "session");
    page.click(".notice a");
    page.until("document.activeElement?.id === 'token'");
    page.write(TOKEN);
    page.press("Enter");
    until_no_notice(&page, "session");

    // A session that ends while the page is open, as after twelve hours.
    page.eval(
        "fetch('/api/console/session', { method: 'DELETE', headers: { 'X-Guard-CSRF': sessionStorage.getItem('hooks-guard csrf') } }).then((answer) => answer.status)",
    );
    page.eval("document.dispatchEvent(new Event('visibilitychange'))");
    until_notice(&page, "session");
    page.click(".notice button.quiet");
    until_no_notice(&page, "session");
    // The operator knows of a sign-out.
    page.click("#token");
    page.write(TOKEN);
    page.press("Enter");
    page.until("document.getElementById('sign-out').hidden === false");
    page.click("#sign-out");
    page.until("document.getElementById('sign-in') !== null");
    assert_eq!(notice(&page, "session"), Value::Null);
    drop(daemon);
}
