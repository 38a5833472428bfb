//! Tests the inbox with many pending questions, and with a list that cannot be read.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::browser::Browser;
use crate::support::daemon::{Daemon, Setup};
use crate::support::questions::flood;
use crate::{ask, card, signed_in};

#[test]
fn flood_the_inbox_shows_every_session_and_the_pending_count() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let setup = Setup::new();
    let honest = flood(
        &setup.database_file(),
        5_000,
        10,
        Duration::from_secs(3_600),
    );
    let daemon = setup.start();
    let page = browser.person().window();
    page.goto(&signed_in(&daemon));
    card(&page, &json!(honest));
    page.until("document.title.startsWith('(5001)')");
    page.until("document.querySelector('[aria-label=Questions] .problem').hidden === false");
    let notice = page.eval("document.querySelector('[aria-label=Questions] .problem').textContent");
    let notice = notice.as_str().unwrap();
    for part in [
        "5001 pending questions",
        "5000 from codex, session flood",
        "--deny-all",
    ] {
        assert!(notice.contains(part), "`{part}` in {notice}");
    }
    assert_eq!(
        page.eval("document.querySelectorAll('article').length"),
        100
    );
    // An answered question makes room for one that was not displayed.
    daemon.respond(&json!(1), "DENIED").ok();
    page.until("document.title.startsWith('(5000)')");
    card(&page, &json!(100));
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn the_inbox_is_shown_as_empty_only_after_a_successful_read() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let port = daemon.port;
    let page = browser.person().window();
    // The first reads are refused.
    let source = r#"
        const real = window.fetch;
        window.broken = true;
        window.fetch = async (path, init) => {
            if (window.broken && path.startsWith("/api/hooks/pending"))
                return new Response(JSON.stringify({ error: "Too much at once", code: "BUSY" }), { status: 503 });
            return real(path, init);
        };
    "#;
    page.before_load(source);
    page.goto(&signed_in(&daemon));
    let text = "document.querySelector('.empty').textContent";
    page.until(&format!("{text}.includes('Too much at once')"));
    assert_eq!(
        page.eval(&format!("{text}.includes('No pending questions')")),
        false
    );
    assert_eq!(page.eval("document.title.startsWith('(?)')"), true);
    // The page reads again without user action.
    page.eval("window.broken = false");
    page.until(&format!("{text}.includes('No pending questions')"));
    page.until("document.title === 'Inbox · hooks-guard'");
    // The service stops.
    let setup = daemon.into_setup();
    page.until(&format!("{text}.includes('No connection')"));
    assert_eq!(
        page.eval(&format!("{text}.includes('No pending questions')")),
        false
    );
    assert_eq!(page.eval("document.title.startsWith('(?)')"), true);
    let daemon = setup.listen(Some(&format!("127.0.0.1:{port}"))).start();
    page.until(&format!("{text}.includes('No pending questions')"));
    card(&page, &ask(&daemon, "mkdir out"));
}

/// Sends an event to each event stream, twice, so that the service closes the streams without a
/// client. Without events it would notice a closed stream when a second heartbeat fails, after up
/// to 30 seconds.
fn send_events(daemon: &Daemon) {
    for _ in 0..2 {
        ask(daemon, "ls");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn flood_a_signed_in_page_gets_events_if_all_streams_are_taken() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let person = browser.person();
    let page = person.window();
    // Sign in, for later windows.
    page.goto(&signed_in(&daemon));
    page.until("document.getElementById('sign-out').hidden === false");
    page.until("document.getElementById('live').dataset.state === 'live'");
    let mut strangers = Vec::new();
    // Take all event streams available to everyone except `less`.
    let mut fill = |less: usize| {
        while strangers.len() < 64 - less {
            let mut stream = TcpStream::connect(("127.0.0.1", daemon.port)).unwrap();
            let head = "GET /api/hooks/events HTTP/1.0\r\nHost: localhost\r\n\r\n";
            stream.write_all(head.as_bytes()).unwrap();
            let mut status = [0; 12];
            stream.read_exact(&mut status).unwrap();
            match status.ends_with(b"200") {
                true => strangers.push(stream),
                // A recently closed window still occupies its stream.
                false => send_events(&daemon),
            }
        }
    };
    fill(1);
    page.goto(&format!("http://{}/trail", daemon.address));
    page.until("document.getElementById('live').dataset.state === 'live'");
    // The stream that it had before it signed in.
    fill(0);
    page.goto(&format!("http://{}/", daemon.address));
    page.until("document.getElementById('live').dataset.state === 'live'");
    card(&page, &ask(&daemon, "mkdir out"));
    // Without the operator's CSRF value there is no free stream.
    let other = browser.person().window();
    other.load(&format!("http://{}/", daemon.address));
    other.until("document.getElementById('live')?.dataset.state === 'away'");
    let text = other.eval("document.querySelector('.empty').textContent");
    assert!(
        !text.as_str().unwrap().contains("No pending questions"),
        "{text}"
    );
    assert_eq!(strangers.len(), 64);
    // The page says why it is not live, and continues when there is a place.
    let notice = "document.querySelector('.notice[data-notice=connection]')";
    other.until(&format!("{notice} !== null"));
    let text = other.eval(&format!("{notice}.innerText"));
    for part in [
        "No live updates since",
        "too many listeners (64)",
        "signed in",
    ] {
        assert!(text.as_str().unwrap().contains(part), "{part} in {text}");
    }
    strangers.truncate(60);
    send_events(&daemon);
    other.until(&format!("{notice} === null"));
    other.until("document.getElementById('live').textContent === 'live'");
}
