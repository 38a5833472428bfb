//! Start and shutdown: addresses, configuration, the Unix socket, signals.

use std::fs;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::client::Request;
use crate::support::daemon::{Daemon, Setup, TOKEN, ask};

#[test]
fn p_16_the_default_address_is_port_3000_of_loopback() {
    // Held by this test or by another program: in use in any case.
    let _held = TcpListener::bind("127.0.0.1:3000");
    let (_, stderr) = Setup::new().listen(None).fail();
    assert!(stderr.contains("127.0.0.1:3000"), "{stderr}");
    assert!(stderr.to_lowercase().contains("in use"), "{stderr}");
}

#[test]
fn start_error_names_a_port_in_use() {
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = held.local_addr().unwrap().to_string();
    let (_, stderr) = Setup::new().listen(Some(&address)).fail();
    assert!(stderr.contains(&address), "{stderr}");
    assert!(stderr.to_lowercase().contains("in use"), "{stderr}");
}

#[test]
fn start_uses_the_address_of_the_configuration() {
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = held.local_addr().unwrap().to_string();
    let config = format!("listen = \"{address}\"");
    let (_, stderr) = Setup::new().listen(None).config(&config).fail();
    assert!(stderr.contains(&address), "{stderr}");
    // The command line overrides the file.
    Setup::new().config(&config).start().get("/health").ok();
}

#[test]
fn p_45_an_address_other_than_loopback_is_refused() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let (_, stderr) = Setup::new().listen(Some(address)).fail();
        assert!(stderr.contains("allow_remote"), "{stderr}");
    }
    let config = Setup::new().listen(None).config("listen = \"0.0.0.0:0\"");
    assert!(config.fail().1.contains("allow_remote"));
}

#[test]
fn p_45_allow_remote_permits_another_address() {
    let daemon = Setup::new()
        .listen(Some("0.0.0.0:0"))
        .config("allow_remote = true")
        .start();
    assert!(daemon.address.starts_with("0.0.0.0:"), "{}", daemon.address);
    daemon.get("/health").ok();
}

#[test]
fn p_45_the_service_listens_on_loopback_only() {
    let daemon = Daemon::plain();
    let port = format!("{:04X}", daemon.port);
    let mut found = 0;
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let Ok(text) = fs::read_to_string(table) else {
            crate::support::left_out("there is no `/proc/net/tcp`");
            return;
        };
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            // State 0A: listening.
            if fields[3] == "0A" && fields[1].ends_with(&format!(":{port}")) {
                assert!(fields[1].starts_with("0100007F:"), "{line}");
                found += 1;
            }
        }
    }
    assert_eq!(found, 1);
}

#[test]
fn start_error_names_an_invalid_address() {
    for address in ["127.0.0.1", "127.0.0.1:99999", "nonsense", ""] {
        let (_, stderr) = Setup::new().listen(Some(address)).fail();
        assert!(stderr.contains(address), "{stderr}");
    }
}

#[test]
fn start_error_names_an_unknown_key() {
    for (config, named) in [
        ("auto_alow_read = true", "auto_alow_read"),
        (
            "[semantic]\nurl = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\ntemprature = 1",
            "temprature",
        ),
        ("[unheard_of]\nkey = 1", "unheard_of"),
    ] {
        let (_, stderr) = Setup::new().config(config).fail();
        assert!(stderr.contains(named), "{stderr}");
        assert!(stderr.contains("config.toml"), "{stderr}");
    }
}

#[test]
fn start_error_names_semantic_options_without_an_endpoint() {
    for (option, value) in [("--semantic-model", "m"), ("--timeout", "5")] {
        let (_, stderr) = Setup::new().argument(option).argument(value).fail();
        assert!(stderr.contains(option), "{stderr}");
        assert!(stderr.contains("--semantic-url"), "{stderr}");
    }
    // The file takes precedence over the variable of another command.
    let daemon = super::semantic::with_model(Some("DELETE"), 1_500)
        .environment("HOOKS_GUARD_SEMANTIC_MODEL", "of-the-environment")
        .start();
    daemon.ask("frobnicate-zq --x");
    let health = daemon.get("/health").ok();
    assert_eq!(health["hooks"]["model_name"], "test-model", "{health}");
}

#[test]
fn start_error_names_the_key_of_an_invalid_value() {
    for (config, named) in [
        ("cleanup = \"sometimes\"", "cleanup"),
        ("enabled = \"yes\"", "enabled"),
        ("approval_ttl_seconds = -1", "approval_ttl_seconds"),
        ("rate_limit_per_minute = \"many\"", "rate_limit_per_minute"),
        ("listen = 3000", "listen"),
        ("max_connections = -1", "max_connections"),
        ("max_connections = 9000000000000000000", "max_connections"),
        ("allowed_hosts = \"a\"", "allowed_hosts"),
    ] {
        let (_, stderr) = Setup::new()
            .rate_limit(None)
            .listen(None)
            .config(config)
            .fail();
        assert!(stderr.contains(named), "{config}: {stderr}");
    }
}

/// The service, and agents' hooks in other directories, use the same files.
#[test]
fn start_error_names_a_relative_path_in_the_configuration() {
    for (config, named) in [
        ("database = \"audit.db\"", "`database` is audit.db"),
        (
            "database = \"sqlite:a/audit.db\"",
            "`database` is a/audit.db",
        ),
        ("database = \"sqlite://audit.db\"", "`database` is audit.db"),
        ("socket = \"guard.sock\"", "`socket` is guard.sock"),
        ("scripts = [\"hook.js\"]", "`scripts` is hook.js"),
    ] {
        let (_, stderr) = Setup::new().config(config).fail();
        assert!(stderr.contains(named), "{config}: {stderr}");
        assert!(stderr.contains("absolute path"), "{config}: {stderr}");
    }
}

#[test]
fn start_error_names_an_invalid_or_missing_configuration() {
    let (_, stderr) = Setup::new().config("enabled = = true").fail();
    assert!(stderr.contains("config.toml"), "{stderr}");
    let setup = Setup::new()
        .argument("--config")
        .argument("no-such-file.toml");
    assert!(setup.fail().1.contains("no-such-file.toml"));
}

#[test]
fn start_refuses_a_short_or_missing_token_without_printing_it() {
    let setup = Setup::new();
    let path = setup.folder().join("operator/token");
    for token in ["", "\n", "tiny-tok-123456"] {
        fs::write(&path, token).unwrap();
        let (_, stderr) = setup.fail();
        assert!(stderr.contains("16"), "{stderr}");
        assert!(!stderr.contains("tiny-tok"), "{stderr}");
    }
    fs::remove_file(&path).unwrap();
    let (_, stderr) = setup.fail();
    assert!(stderr.contains("operator/token"), "{stderr}");
}

#[test]
fn start_a_token_file_may_end_in_a_line_break() {
    let setup = Setup::new();
    fs::write(setup.folder().join("operator/token"), format!("{TOKEN}\n")).unwrap();
    let daemon = setup.start();
    let permission = daemon.ask("mkdir out");
    daemon.respond(&permission["id"], "APPROVED").ok();
}

#[test]
fn start_warns_of_a_token_file_readable_by_other_users() {
    use std::os::unix::fs::PermissionsExt;

    for (mode, warned) in [(0o600, false), (0o400, false), (0o644, true), (0o620, true)] {
        let setup = Setup::new();
        let path = setup.folder().join("operator/token");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let mut daemon = setup.start();
        daemon.terminate();
        let stderr = daemon.stderr();
        let warning = format!(
            "warning: other users can read or write `{}`",
            path.display()
        );
        assert_eq!(stderr.contains(&warning), warned, "{mode:o}: {stderr}");
        assert_eq!(stderr.contains("chmod 600"), warned, "{mode:o}: {stderr}");
    }
}

#[test]
fn end_by_a_signal_is_orderly() {
    for signal in ["TERM", "INT"] {
        let mut daemon = Daemon::plain();
        daemon.ask("ls");
        daemon.signal(signal);
        let status = daemon.end();
        assert!(status.success(), "{signal}: {status}");
        assert!(TcpStream::connect(("127.0.0.1", daemon.port)).is_err());
    }
}

#[test]
fn end_does_not_wait_for_long_polls_and_idle_connections() {
    let mut daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let (port, target) = (
        daemon.port,
        format!("/api/hooks/decisions/{}?wait=50", permission["id"]),
    );
    let waiting = thread::spawn(move || Request::new("GET", &target).try_send(port));
    // An idle connection, and one with an incomplete request.
    let _idle = daemon.connect();
    let mut half = daemon.connect();
    half.write(b"GET /health HTTP/1.1\r\nHost: 127").unwrap();
    thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    assert!(daemon.terminate().success());
    assert!(
        start.elapsed() < Duration::from_secs(40),
        "the shutdown waited for long polls"
    );
    // The question is still open, or there is no response; it is never approved.
    if let Ok(answer) = waiting.join().unwrap() {
        if answer.status == 200 {
            assert_eq!(answer.ok()["user_response"], Value::Null);
        } else {
            answer.refusal(503);
        }
    }
}

#[test]
fn end_waits_for_running_requests() {
    let mut daemon = super::semantic::with_model(None, 1_500).start();
    let port = daemon.port;
    let body = json!({ "command": "frobnicate-zq --x" });
    let asking = thread::spawn(move || ask(&body).try_send(port));
    thread::sleep(Duration::from_millis(400));
    assert!(daemon.terminate().success());
    let permission = asking.join().unwrap().unwrap().ok();
    assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION");
    let daemon = daemon.restart(|setup| setup);
    assert_eq!(
        daemon.record(&permission["id"])["command"],
        "frobnicate-zq --x"
    );
}

#[cfg(unix)]
mod socket {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::UnixStream;
    use std::path::{Path, PathBuf};

    use super::{Daemon, Request, Setup, TOKEN, Value, ask, fs, json};
    use crate::support::client::{Answer, Connection};

    fn start() -> (Daemon, PathBuf) {
        let setup = Setup::new();
        let path = setup.folder().join("data/guard.sock");
        let daemon = setup
            .argument("--socket")
            .argument(path.display().to_string());
        (daemon.start(), path)
    }

    fn send(path: &Path, request: &Request) -> Answer {
        let mut connection = Connection::on(UnixStream::connect(path).unwrap());
        connection.write(&request.bytes("localhost")).unwrap();
        connection.read().unwrap()
    }

    #[test]
    fn socket_serves_the_same_api_as_the_port() {
        let (daemon, path) = start();
        let permission = send(&path, &ask(&json!({ "command": "mkdir out" }))).ok();
        assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION");
        assert_eq!(
            daemon.record(&permission["id"])["user_response"],
            Value::Null
        );
        let body = json!({ "id": permission["id"], "response": "APPROVED" });
        let request = Request::new("POST", "/api/hooks/permission-response").json(&body);
        send(&path, &request).error(401, "OPERATOR_TOKEN_REQUIRED");
        send(&path, &request.bearer(TOKEN)).ok();
        assert_eq!(
            daemon.record(&permission["id"])["user_response"],
            "APPROVED"
        );
    }

    #[test]
    fn socket_is_private_to_its_owner() {
        let (_daemon, path) = start();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
    }

    #[test]
    fn socket_is_removed_when_the_daemon_stops() {
        let (mut daemon, path) = start();
        assert!(daemon.terminate().success());
        assert!(!path.exists());
    }

    #[test]
    fn socket_of_a_killed_daemon_is_replaced() {
        let (daemon, path) = start();
        let _daemon = daemon.restart(|setup| {
            assert!(path.exists());
            setup
        });
        send(&path, &Request::new("GET", "/health")).ok();
    }

    #[test]
    fn socket_in_use_is_not_replaced() {
        let (_daemon, path) = start();
        let other = Setup::new()
            .argument("--socket")
            .argument(path.display().to_string());
        let (_, stderr) = other.fail();
        assert!(stderr.contains("guard.sock"), "{stderr}");
        send(&path, &Request::new("GET", "/health")).ok();
    }

    #[test]
    fn socket_path_of_another_file_is_an_error() {
        let setup = Setup::new();
        let path = setup.folder().join("data/precious.txt");
        fs::write(&path, "precious").unwrap();
        let setup = setup
            .argument("--socket")
            .argument(path.display().to_string());
        let (_, stderr) = setup.fail();
        assert!(stderr.contains("precious.txt"), "{stderr}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    }
}

#[test]
fn start_connections_are_limited_and_idle_ones_are_closed() {
    let daemon = Setup::new().config("max_connections = 4").start();
    let idle: Vec<_> = (0..4).map(|_| daemon.connect()).collect();
    for connection in &idle {
        // Each connection has been accepted.
        let mut stream = connection.stream();
        stream.write_all(b"GET /health HTTP/1.1\r\n").unwrap();
    }
    // Connections that wait for their client are closed.
    for _ in 0..10 {
        daemon.get("/health").ok();
    }
    drop(idle);
    // There is room again.
    for _ in 0..10 {
        daemon.get("/health").ok();
    }
}

/// By default, every client that reaches the service can delete records.
#[test]
fn p_41_start_warns_of_an_open_cleanup() {
    let warned = |config: &str| {
        let daemon = Setup::new().config(config).start();
        daemon.get("/health").ok();
        let stderr = daemon.stderr();
        stderr
            .lines()
            .any(|line| line.contains("warning") && line.contains("`cleanup` is `open`"))
    };
    assert!(warned(""));
    assert!(warned("cleanup = \"open\""));
    assert!(!warned("cleanup = \"operator\""));
    assert!(!warned("cleanup = \"off\""));
}
