//! Tests the console's files over HTTP, with their headers.

use crate::support::client::Request;
use crate::support::daemon::Daemon;

const PAGES: [&str; 4] = ["/", "/trail", "/statistics", "/hooks"];

#[test]
fn the_content_security_policy_forbids_other_origins_and_framing() {
    let daemon = Daemon::plain();
    for target in PAGES
        .into_iter()
        .chain(["/console/app.js", "/console/style.css"])
    {
        let answer = daemon.get(target);
        assert_eq!(answer.status, 200, "{target}");
        let policy = answer.header("content-security-policy").unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'self'",
        ] {
            assert!(
                policy.split("; ").any(|one| one == part),
                "{part} in {policy}"
            );
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert!(answer.header("set-cookie").is_none());
    }
    let html = daemon.get("/").text();
    assert!(
        !html.contains("<style") && !html.contains("style="),
        "{html}"
    );
    assert!(!html.contains("javascript:"), "{html}");
    for script in html.split("<script").skip(1) {
        assert!(script.contains("src=\"/console/"), "{script}");
    }
}

#[test]
fn a_file_with_a_matching_etag_is_not_modified() {
    let daemon = Daemon::plain();
    let first = daemon.get("/console/app.js");
    let tag = first.header("etag").unwrap();
    assert_eq!(first.header("cache-control"), Some("no-cache"));
    assert_eq!(
        first.header("content-type"),
        Some("text/javascript; charset=utf-8")
    );
    for (given, status) in [
        (tag, 304),
        (&*format!("\"x\", W/{tag}"), 304),
        ("\"x\"", 200),
    ] {
        let request = Request::new("GET", "/console/app.js").header("If-None-Match", given);
        // Close the connection, because a 304 response has no length.
        let answer = daemon.send(&request.header("Connection", "close"));
        assert_eq!(answer.status, status, "{given}");
        assert_eq!(answer.body.is_empty(), status == 304);
    }
}

#[test]
fn other_paths_and_methods_are_errors() {
    let daemon = Daemon::plain();
    for target in [
        "/console/",
        "/console/x.js",
        "/console/..%2Fapp.js",
        "/console/%2e%2e/Cargo.toml",
        "/index.html",
        "/Cargo.toml",
    ] {
        daemon.get(target).error(404, "NOT_FOUND");
    }
    daemon
        .send(&Request::new("POST", "/").body("x"))
        .error(405, "METHOD_NOT_ALLOWED");
}

#[test]
fn a_browser_gets_a_page_for_an_unknown_path() {
    let daemon = Daemon::plain();
    let open = |target: &str| {
        let accepted = "text/html,application/xhtml+xml,*/*;q=0.8";
        let request = Request::new("GET", target).header("Accept", accepted);
        daemon.send(&request.header("If-None-Match", "*"))
    };
    let page = daemon.get("/");
    for target in ["/no-such-page", "/trail/", "/a/b/c", "/console/x.js"] {
        let answer = open(target);
        assert_eq!(answer.status, 404, "{target}");
        assert_eq!(answer.text(), page.text(), "{target}");
        assert_eq!(answer.header("etag"), None);
        for name in [
            "content-type",
            "content-security-policy",
            "x-content-type-options",
        ] {
            assert_eq!(answer.header(name), page.header(name), "{target}");
        }
    }
    for target in ["/api/hooks/nothing", "/api/", "/api/console/x"] {
        open(target).error(404, "NOT_FOUND");
    }
    let other = Request::new("POST", "/no-such-page").header("Accept", "text/html");
    daemon.send(&other.body("x")).error(404, "NOT_FOUND");
}

#[test]
fn p_14_the_console_rejects_other_host_names() {
    let daemon = Daemon::plain();
    let request = Request::new("GET", "/").host("console.evil.test");
    daemon.send(&request).error(403, "FORBIDDEN_HOST");
}
