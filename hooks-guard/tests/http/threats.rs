//! The threat model, line by line: what an agent with a shell on this machine, and a page in a
//! browser on it, cannot do.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::client::Request;
use crate::support::daemon::{Daemon, Setup, TOKEN, ask};
use crate::support::{contains, files_below, has, left_out};

const RESPONSE: &str = "/api/hooks/permission-response";

#[test]
fn threat_an_answer_without_the_token_is_refused() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    for response in ["APPROVED", "DENIED"] {
        let body = json!({ "id": permission["id"], "response": response, "remember": "always" });
        let request = Request::new("POST", RESPONSE).json(&body);
        let answer = daemon.send(&request);
        answer.error(401, "OPERATOR_TOKEN_REQUIRED");
        let secret = permission["secret"].as_str().unwrap();
        let wrong = [
            String::new(),
            "Bearer".to_owned(),
            "Bearer ".to_owned(),
            format!("Bearer {}", &TOKEN[..TOKEN.len() - 1]),
            format!("Bearer {TOKEN}x"),
            format!("Bearer {TOKEN} {TOKEN}"),
            format!("Bearer {}", TOKEN.to_uppercase()),
            format!("Bearer {secret}"),
            format!("Basic {TOKEN}"),
            TOKEN.to_owned(),
            "Bearer null".to_owned(),
        ];
        for value in wrong {
            let answer = daemon.send(&request.clone().header("Authorization", &value));
            let body = answer.error(401, "OPERATOR_TOKEN_REQUIRED");
            assert!(!body.to_string().contains(TOKEN), "{body}");
        }
        for header in ["X-Token", "Cookie", "X-Api-Key", "Proxy-Authorization"] {
            daemon
                .send(&request.clone().header(header, &format!("Bearer {TOKEN}")))
                .error(401, "OPERATOR_TOKEN_REQUIRED");
        }
        let secret = request.clone().header("X-Secret", secret);
        daemon.send(&secret).error(401, "OPERATOR_TOKEN_REQUIRED");
    }
    assert_eq!(
        daemon.record(&permission["id"])["user_response"],
        Value::Null
    );
    assert_eq!(daemon.pending().len(), 1);
}

#[test]
fn threat_a_refused_answer_reveals_nothing_about_the_decision() {
    let daemon = Daemon::plain();
    let open = daemon.ask("mkdir out");
    let allowed = daemon.ask("ls");
    let mut bodies = Vec::new();
    for id in [&open["id"], &allowed["id"], &json!(4711)] {
        let body = json!({ "id": id, "response": "APPROVED" });
        let answer = daemon.send(&Request::new("POST", RESPONSE).json(&body));
        let mut body = answer.error(401, "OPERATOR_TOKEN_REQUIRED");
        body.as_object_mut().unwrap().remove("request_id");
        bodies.push(body);
    }
    assert!(
        bodies.windows(2).all(|pair| pair[0] == pair[1]),
        "{bodies:?}"
    );
}

#[test]
fn threat_a_request_for_permission_cannot_grant_itself() {
    let daemon = Daemon::plain();
    for field in [
        "decision",
        "user_response",
        "response",
        "approved",
        "denied",
        "remember",
        "token",
        "confidence",
        "classification",
    ] {
        for value in [
            json!("AUTO_ALLOWED"),
            json!("APPROVED"),
            json!("READ"),
            json!(true),
            json!(TOKEN),
        ] {
            let answer = daemon.post(&json!({ "command": "mkdir out", field: value }));
            if answer.status == 200 {
                assert_eq!(answer.ok()["decision"], "REQUIRES_CONFIRMATION", "{field}");
            } else {
                answer.refusal(400);
            }
        }
    }
}

#[test]
fn threat_a_secret_is_sent_only_to_its_requester() {
    let mut daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let secret = permission["secret"].as_str().unwrap().to_owned();
    daemon.respond(&permission["id"], "APPROVED").ok();
    let other = daemon.ask("touch notes.txt");
    let others = other["secret"].as_str().unwrap().to_owned();
    for target in [
        "/api/hooks/pending".to_owned(),
        "/api/hooks/decisions".to_owned(),
        "/api/hooks/remembered".to_owned(),
        "/api/hooks/stats".to_owned(),
        "/metrics".to_owned(),
        "/health".to_owned(),
        format!("/api/hooks/decisions/{}", permission["id"]),
        format!("/api/hooks/decisions/{}", other["id"]),
        format!("/api/hooks/decisions/{}?wait=1", other["id"]),
    ] {
        let text = daemon.get(&target).text();
        assert!(
            !text.contains(&secret) && !text.contains(&others),
            "{target}: {text}"
        );
    }
    daemon
        .executed(&permission["id"], &json!(others))
        .error(403, "WRONG_SECRET");
    daemon
        .executed(&other["id"], &json!(secret))
        .error(403, "WRONG_SECRET");
    let text = daemon.executed(&permission["id"], &json!(secret)).text();
    assert!(!text.contains(&secret), "{text}");
    // Not on the disk either, where an agent can read.
    daemon.terminate();
    for file in files_below(daemon.setup().folder()) {
        let bytes = fs::read(&file).unwrap_or_default();
        assert!(!contains(&bytes, &secret), "{}", file.display());
        assert!(!contains(&bytes, &others), "{}", file.display());
    }
}

#[test]
fn threat_a_secret_cannot_be_guessed_from_another() {
    let daemon = Daemon::plain();
    let secrets: Vec<String> = (0..50)
        .map(|_| daemon.ask("ls")["secret"].as_str().unwrap().to_owned())
        .collect();
    // No two secrets have a common part of relevant length.
    for (number, one) in secrets.iter().enumerate() {
        for other in &secrets[number + 1..] {
            let common = one
                .bytes()
                .zip(other.bytes())
                .filter(|(a, b)| a == b)
                .count();
            assert!(common * 2 < one.len(), "{one} {other}");
        }
    }
}

#[test]
fn threat_no_file_or_process_data_contains_the_token() {
    let mut daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    daemon.respond(&permission["id"], "APPROVED").ok();
    daemon
        .send(&Request::new("POST", RESPONSE).bearer(TOKEN).body("{"))
        .refusal(400);
    for name in ["environ", "cmdline"] {
        match fs::read(format!("/proc/{}/{name}", daemon.pid())) {
            Ok(bytes) => assert!(!contains(&bytes, TOKEN), "{name}"),
            Err(error) => left_out(&format!("there is no `/proc/PID/{name}`: {error}")),
        }
    }
    let folders = [daemon.setup().home(), daemon.setup().folder().join("data")];
    let check = |when: &str| {
        for file in folders.iter().flat_map(|folder| files_below(folder)) {
            let bytes = fs::read(&file).unwrap_or_default();
            assert!(!contains(&bytes, TOKEN), "{when}: {}", file.display());
        }
    };
    check("while it runs");
    for target in [
        "/health",
        "/metrics",
        "/api/hooks/decisions",
        "/api/hooks/remembered",
    ] {
        assert!(!daemon.get(target).text().contains(TOKEN), "{target}");
    }
    daemon.terminate();
    check("afterwards");
    assert!(!daemon.stderr().contains(TOKEN), "{}", daemon.stderr());
}

/// Returns words that could be a token: long, and of a token's characters.
fn words(text: &str) -> Vec<String> {
    let colours = regex::Regex::new(r"\x1b\[[0-9;?]*[A-Za-z]").unwrap();
    let text = colours.replace_all(text, " ");
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
        .filter(|word| word.len() >= 16)
        .map(ToOwned::to_owned)
        .collect()
}

#[test]
fn threat_a_generated_token_is_not_printed_without_a_terminal() {
    let daemon = Setup::new().without_token().start();
    let permission = daemon.ask("mkdir out");
    // The token is neither in the output nor in the files of the service.
    let mut candidates = words(&daemon.stderr());
    for file in files_below(&daemon.setup().home()) {
        candidates.extend(words(&String::from_utf8_lossy(
            &fs::read(file).unwrap_or_default(),
        )));
    }
    for name in ["environ", "cmdline"] {
        let bytes = fs::read(format!("/proc/{}/{name}", daemon.pid())).unwrap_or_default();
        candidates.extend(words(&String::from_utf8_lossy(&bytes)));
    }
    for candidate in candidates.iter().chain([&String::new(), &TOKEN.to_owned()]) {
        let body = json!({ "id": permission["id"], "response": "APPROVED" });
        daemon
            .send(&Request::new("POST", RESPONSE).bearer(candidate).json(&body))
            .error(401, "OPERATOR_TOKEN_REQUIRED");
    }
    assert_eq!(
        daemon.record(&permission["id"])["user_response"],
        Value::Null
    );
}

#[test]
fn threat_a_generated_token_is_printed_on_the_terminal_only() {
    if !has("script") {
        return;
    }
    let setup = Setup::new().without_token();
    let words_of = setup.words();
    let quoted: Vec<_> = words_of.iter().map(|word| format!("'{word}'")).collect();
    let line = format!("echo \"pid $$ .\"; exec {}", quoted.join(" "));
    let mut command = Command::new("script");
    let home = setup.home();
    let mut child = command
        .args(["-qfec", &line, "/dev/null"])
        .current_dir(setup.folder())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm")
        .env("HOME", &home)
        .env("XDG_CONFIG_HOME", home.join(".config"))
        .env("XDG_DATA_HOME", home.join(".local/share"))
        .env("XDG_STATE_HOME", home.join(".local/state"))
        .env("XDG_RUNTIME_DIR", home.join("run"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let printed = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let all = std::sync::Arc::clone(&printed);
    let mut terminal = child.stdout.take().unwrap();
    thread::spawn(move || {
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = std::io::Read::read(&mut terminal, &mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
            all.lock().unwrap().push_str(&text);
        }
    });
    let start = Instant::now();
    let (port, pid) = loop {
        let text = printed.lock().unwrap().clone();
        let digits = |mark: &str| {
            let (_, rest) = text.split_once(mark)?;
            let end = rest.find(|c: char| !c.is_ascii_digit())?;
            rest[..end].parse::<u32>().ok()
        };
        if let (Some(port), Some(pid)) = (digits("http://127.0.0.1:"), digits("pid ")) {
            break (u16::try_from(port).unwrap(), pid);
        }
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "it does not start: {text}"
        );
        thread::sleep(Duration::from_millis(20));
    };
    // Further output after the address.
    thread::sleep(Duration::from_millis(500));
    let text = printed.lock().unwrap().clone();

    let permission = ask(&json!({ "command": "mkdir out" })).send(port).ok();
    let body = json!({ "id": permission["id"], "response": "APPROVED" });
    let token = words(&text).into_iter().find(|word| {
        let request = Request::new("POST", RESPONSE).bearer(word).json(&body);
        request.send(port).status == 200
    });
    let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let cmdline = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let files = files_below(setup.folder());
    let ended = Command::new("kill").arg(pid.to_string()).status().unwrap();
    child.wait().unwrap();
    assert!(ended.success());

    let token = token.unwrap_or_else(|| panic!("no token on the terminal: {text}"));
    assert!(!cmdline.is_empty() && !contains(&cmdline, &token));
    assert!(!environ.is_empty() && !contains(&environ, &token));
    for file in files {
        let bytes = fs::read(&file).unwrap_or_default();
        assert!(!contains(&bytes, &token), "{}", file.display());
    }
}

#[test]
fn threat_a_request_with_another_host_name_is_refused() {
    let daemon = Daemon::plain();
    let port = daemon.port;
    daemon.ask("mkdir quite-unmistakable");
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("evil-localhost:{port}"),
        format!("localhost@evil.example:{port}"),
        format!("127.0.0.1:{port}@evil.example"),
        format!("192.0.2.1:{port}"),
        format!("[2001:db8::1]:{port}"),
        String::new(),
    ] {
        for target in [
            "/api/hooks/decisions",
            "/api/hooks/pending",
            "/api/hooks/stats",
            "/api/hooks/remembered",
            "/metrics",
            "/health",
            "/",
            "/nothing",
        ] {
            let answer = daemon.send(&Request::new("GET", target).host(&host));
            assert!(!answer.text().contains("unmistakable"), "{host} {target}");
            if answer.status == 400 {
                // A host that is invalid in the protocol.
                assert!(host.contains('@') || host.is_empty(), "{host}");
            } else {
                answer.error(403, "FORBIDDEN_HOST");
            }
        }
        let posted = daemon.send(&ask(&json!({ "command": "ls" })).host(&host));
        assert!(
            matches!(posted.status, 400 | 403),
            "{host}: {}",
            posted.text()
        );
        let deleted = Request::new("DELETE", "/api/hooks/cleanup?days=1&force=true").host(&host);
        assert!(matches!(daemon.send(&deleted).status, 400 | 403), "{host}");
    }
    assert_eq!(
        daemon.get("/api/hooks/decisions").ok()["pagination"]["total"],
        1
    );
}

#[test]
fn threat_the_names_of_loopback_are_accepted() {
    let daemon = Daemon::plain();
    let port = daemon.port;
    for host in ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"] {
        let request = Request::new("GET", "/health").host(&format!("{host}:{port}"));
        daemon.send(&request).ok();
    }
}

#[test]
fn threat_two_host_headers_are_refused() {
    let daemon = Daemon::plain();
    let own = format!("127.0.0.1:{}", daemon.port);
    for (first, second) in [
        (own.as_str(), "evil.example"),
        ("evil.example", own.as_str()),
    ] {
        let request = Request::new("GET", "/api/hooks/decisions");
        let answer = daemon.send(&request.host(first).header("Host", second));
        assert!(matches!(answer.status, 400 | 403), "{}", answer.text());
    }
}

#[test]
fn threat_another_host_in_the_request_target_is_refused() {
    let daemon = Daemon::plain();
    let answer = daemon.get("http://evil.example/api/hooks/decisions");
    assert!(
        matches!(answer.status, 400 | 403 | 404),
        "{}",
        answer.text()
    );
}

#[test]
fn threat_other_host_names_need_the_configuration() {
    let daemon = Setup::new()
        .config("allowed_hosts = [\"guard.test\"]")
        .start();
    let port = daemon.port;
    let get = |host: &str| {
        let request = Request::new("GET", "/health").host(&format!("{host}:{port}"));
        daemon.send(&request)
    };
    get("guard.test").ok();
    get("localhost").ok();
    for host in [
        "other.test",
        "x.guard.test",
        "guard.test.evil.example",
        "guardxtest",
    ] {
        get(host).error(403, "FORBIDDEN_HOST");
    }
}

#[test]
fn threat_a_request_of_another_origin_is_refused() {
    let daemon = Daemon::plain();
    let port = daemon.port;
    daemon.ask("mkdir quite-unmistakable");
    for origin in [
        "http://evil.example".to_owned(),
        "https://evil.example".to_owned(),
        "null".to_owned(),
        format!("http://127.0.0.1.evil.example:{port}"),
        format!("http://localhost.evil.example:{port}"),
        format!("https://evil.example:{port}"),
        "file://".to_owned(),
        "chrome-extension://abcdefghijklmnop".to_owned(),
    ] {
        for request in [
            Request::new("GET", "/api/hooks/decisions"),
            Request::new("GET", "/api/hooks/pending"),
            Request::new("GET", "/api/hooks/stats"),
            Request::new("DELETE", "/api/hooks/cleanup?days=1&force=true"),
            ask(&json!({ "command": "ls" })),
            Request::new("POST", "/api/hooks/permission-request")
                .header("Content-Type", "text/plain")
                .body(r#"{"command":"ls"}"#),
            Request::new("POST", RESPONSE)
                .bearer(TOKEN)
                .json(&json!({ "id": 1, "response": "APPROVED" })),
        ] {
            let answer = daemon.send(&request.header("Origin", &origin));
            answer.error(403, "FORBIDDEN_ORIGIN");
            assert!(
                answer.header("access-control-allow-origin").is_none(),
                "{origin}"
            );
        }
    }
    assert_eq!(
        daemon.get("/api/hooks/decisions").ok()["pagination"]["total"],
        1
    );
    assert_eq!(daemon.pending().len(), 1);
}

#[test]
fn threat_a_page_on_another_port_is_another_origin() {
    let daemon = Daemon::plain();
    for origin in [
        "http://localhost:1",
        "http://127.0.0.1:1",
        "http://localhost",
    ] {
        let request = Request::new("GET", "/api/hooks/decisions").header("Origin", origin);
        daemon.send(&request).error(403, "FORBIDDEN_ORIGIN");
    }
}

#[test]
fn threat_a_request_of_the_same_origin_is_accepted() {
    let daemon = Daemon::plain();
    for name in ["127.0.0.1", "localhost"] {
        let own = format!("{name}:{}", daemon.port);
        let request = ask(&json!({ "command": "ls" })).host(&own);
        daemon
            .send(&request.header("Origin", &format!("http://{own}")))
            .ok();
    }
}

#[test]
fn threat_a_preflight_request_gets_no_permission() {
    let daemon = Daemon::plain();
    for target in [
        "/api/hooks/permission-request",
        RESPONSE,
        "/api/hooks/decisions",
    ] {
        let request = Request::new("OPTIONS", target)
            .header("Origin", "http://evil.example")
            .header("Access-Control-Request-Method", "POST")
            .header("Access-Control-Request-Headers", "content-type");
        let answer = daemon.send(&request);
        assert!(answer.status >= 400, "{}", answer.status);
        assert!(answer.header("access-control-allow-origin").is_none());
        assert!(answer.header("access-control-allow-methods").is_none());
    }
}

#[test]
fn threat_the_trail_is_private_to_its_owner() {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let daemon = Daemon::plain();
        daemon.ask("ls");
        for file in files_below(&daemon.setup().folder().join("data")) {
            let mode = fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{}: {mode:o}", file.display());
        }
    }
}
