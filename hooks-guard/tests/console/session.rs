//! Tests that only a signed-in operator can answer.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::support::client::{Answer, Request};
use crate::support::daemon::{Daemon, Setup, TOKEN};
use crate::{answer, ask, card, signed_in, until_answered};

const SESSION: &str = "/api/console/session";

/// Signs in; returns the cookie and the CSRF value.
#[track_caller]
fn sign_in(daemon: &Daemon) -> (String, String) {
    let answer = daemon.send(&Request::new("POST", SESSION).bearer(TOKEN));
    let cookie = answer.header("set-cookie").unwrap().to_owned();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(
            cookie.split("; ").any(|one| one == part),
            "{part} in {cookie}"
        );
    }
    let cookie = cookie.split(';').next().unwrap().to_owned();
    (cookie, answer.ok()["csrf"].as_str().unwrap().to_owned())
}

fn respond(daemon: &Daemon, id: &Value, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::new("POST", "/api/hooks/permission-response");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    daemon.send(&request.json(&json!({ "id": id, "response": "APPROVED" })))
}

#[test]
fn an_answer_needs_the_cookie_and_the_csrf_value() {
    let daemon = Daemon::plain();
    let id = ask(&daemon, "mkdir out");
    let (cookie, csrf) = sign_in(&daemon);
    let (other, _) = sign_in(&daemon);
    let required = "OPERATOR_TOKEN_REQUIRED";
    respond(&daemon, &id, &[("X-Guard-CSRF", &csrf)]).error(401, required);
    respond(&daemon, &id, &[("Cookie", &cookie)]).error(403, "CSRF_REQUIRED");
    respond(&daemon, &id, &[("Cookie", &other), ("X-Guard-CSRF", &csrf)])
        .error(403, "CSRF_REQUIRED");
    let both = [("Cookie", &*cookie), ("X-Guard-CSRF", &*csrf)];
    respond(
        &daemon,
        &id,
        &[both[0], both[1], ("Origin", "http://evil.test")],
    )
    .error(403, "FORBIDDEN_ORIGIN");
    respond(
        &daemon,
        &id,
        &[both[0], both[1], ("Sec-Fetch-Site", "same-site")],
    )
    .error(401, required);
    respond(
        &daemon,
        &id,
        &[
            both[0],
            both[1],
            ("Authorization", "Bearer wrong-wrong-wrong-wrong"),
        ],
    )
    .error(401, required);
    assert_eq!(answer(&daemon, &id), Value::Null);
    let record = respond(&daemon, &id, &both).ok();
    assert_eq!(record["user_response"], "APPROVED");
    assert_eq!(record["answered_by"], "console");
}

#[test]
fn a_session_ends_at_sign_out_and_at_a_restart_of_the_daemon() {
    let daemon = Daemon::plain();
    let (cookie, csrf) = sign_in(&daemon);
    let is_good = |daemon: &Daemon| {
        let request = Request::new("GET", SESSION).header("Cookie", &cookie);
        daemon.send(&request.header("X-Guard-CSRF", &csrf)).ok()["signed_in"] == true
    };
    assert!(is_good(&daemon));
    let out = Request::new("DELETE", SESSION).header("Cookie", &cookie);
    daemon.send(&out).error(403, "CSRF_REQUIRED");
    assert!(is_good(&daemon), "only the session itself can sign out");
    daemon.send(&out.header("X-Guard-CSRF", &csrf)).ok();
    assert!(!is_good(&daemon));
    let (cookie, csrf) = sign_in(&daemon);
    let address = daemon.address.clone();
    let daemon = daemon.restart(|setup| setup.listen(Some(&address)));
    let id = ask(&daemon, "mkdir out");
    let both = [("Cookie", &*cookie), ("X-Guard-CSRF", &*csrf)];
    respond(&daemon, &id, &both).error(401, "OPERATOR_TOKEN_REQUIRED");
}

#[test]
fn sign_in_needs_the_token_and_the_same_origin() {
    let daemon = Daemon::plain();
    for request in [
        Request::new("POST", SESSION),
        Request::new("POST", SESSION).bearer("wrong-wrong-wrong-wrong"),
        Request::new("POST", SESSION)
            .bearer(TOKEN)
            .header("Authorization", "Bearer x"),
    ] {
        let answer = daemon.send(&request);
        assert!(answer.header("set-cookie").is_none());
        answer.error(401, "OPERATOR_TOKEN_REQUIRED");
    }
    let cross = Request::new("POST", SESSION)
        .bearer(TOKEN)
        .header("Origin", "http://localhost:1");
    daemon.send(&cross).error(403, "FORBIDDEN_ORIGIN");
}

#[test]
fn p_41_a_cleanup_for_the_operator_accepts_a_session() {
    let daemon = Setup::new().config("cleanup = \"operator\"").start();
    let (cookie, csrf) = sign_in(&daemon);
    let request = Request::new("DELETE", "/api/hooks/cleanup?force=true").header("Cookie", &cookie);
    daemon.send(&request).error(403, "CSRF_REQUIRED");
    daemon.send(&request.header("X-Guard-CSRF", &csrf)).ok();
}

#[test]
fn the_token_is_removed_from_the_url_and_not_stored() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let page = browser.person().window();
    page.goto(&signed_in(&daemon));
    page.until("document.getElementById('sign-out').hidden === false");
    assert_eq!(page.eval("location.hash + location.search"), "");
    let kept = page.eval(
        "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state, document.documentElement.outerHTML])",
    );
    assert!(!kept.as_str().unwrap().contains(TOKEN), "{kept}");
    assert_eq!(
        page.eval("document.cookie"),
        "",
        "no script reads the cookie"
    );
    // The session survives a reload of the page.
    page.goto(&format!("http://{}/trail", daemon.address));
    page.until("document.getElementById('sign-out').hidden === false");
    assert_eq!(browser.console_errors(), [""; 0]);
}

#[test]
fn a_typed_token_enables_answers_and_sign_out_affects_all_windows() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let daemon = Daemon::plain();
    let id = ask(&daemon, "mkdir out");
    let person = browser.person();
    let page = person.window();
    page.goto(&format!("http://{}/", daemon.address));
    let card = card(&page, &id);
    assert_eq!(
        page.eval(&format!("document.querySelector('{card} button').disabled")),
        true
    );
    page.click("#token");
    page.write("not the operators token");
    page.press("Enter");
    page.until(
        "document.querySelector('.sign-in .problem').textContent.includes('Wrong operator')",
    );
    page.click("#token");
    page.write(TOKEN);
    page.press("Enter");
    page.until("document.getElementById('sign-in') === null");

    // Another window of this profile does not have to sign in.
    let other = person.window();
    other.goto(&format!("http://{}/", daemon.address));
    other.until("document.getElementById('sign-out').hidden === false");
    other.click(&format!("{card} button[data-key=y]"));
    until_answered(&page, &id);
    assert_eq!(answer(&daemon, &id), "APPROVED");
    other.click("#sign-out");
    page.until("document.getElementById('sign-in') !== null");
    // Another profile was never signed in.
    let stranger = browser.person().window();
    stranger.goto(&format!("http://{}/", daemon.address));
    stranger.until("document.getElementById('sign-in') !== null");
}
