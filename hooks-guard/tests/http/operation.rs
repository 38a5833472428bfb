//! The service in operation, as described in `docs/operation.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::support::client::Request;
use crate::support::daemon::{Daemon, Setup, TOKEN, ask};
use crate::support::{ShiftedClock, has};

const PAGE: &str = include_str!("../../../docs/operation.md");
const DAY: i64 = 24 * 3_600;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the cells of the tables in a section, row by row, without backticks.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let (_, rest) = PAGE.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = rest.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells = row.trim_matches('|').split('|');
        cells
            .map(|cell| cell.replace('`', "").trim().to_owned())
            .collect()
    })
    .collect()
}

/// Runs the program with the environment of a daemon.
fn program(setup: &Setup, arguments: &[&str]) -> Output {
    let home = setup.home();
    Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .output()
        .unwrap()
}

/// Returns the output of `audit verify` for a trail, which must be intact.
#[track_caller]
pub(crate) fn assert_intact(database: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
        .args(["audit", "verify", "--database", database])
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(stdout.contains("intact: "), "{stdout}");
    stdout
}

#[test]
fn requests_are_counted_by_route_and_not_by_path() {
    let daemon = Daemon::plain();
    for path in [
        "/api/hooks/decisions/4711",
        "/api/hooks/decisions/4711/changes",
        "/api/hooks/decisions/4711/unknown",
        "/api/hooks/decisions-4711",
    ] {
        assert_ne!(daemon.get(path).status, 200, "{path}");
    }
    let text = daemon.get("/metrics").text();
    let counted = text
        .lines()
        .filter(|line| line.starts_with("hooks_guard_http_requests_total{"));
    let routes: BTreeSet<&str> = counted
        .map(|line| line.split("path=\"").nth(1).unwrap())
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    for route in [
        "/api/hooks/decisions/{id}",
        "/api/hooks/decisions/{id}/changes",
        "other",
    ] {
        assert!(routes.contains(route), "{routes:?}");
    }
    assert!(!text.contains("4711"), "{text}");
}

#[test]
fn metrics_on_the_page_equal_the_exported_ones() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let id = &permission["id"];
    let delayed = json!({ "id": id, "response": "APPROVED", "delay_ms": 10_000 });
    assert_eq!(daemon.respond_with(&delayed).status, 202);
    let target = format!("/api/hooks/permission-response/{id}");
    daemon.as_operator("DELETE", &target).ok();
    daemon.respond(id, "APPROVED").ok();
    let mut printed: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();
    // The first request for metrics is counted in the second.
    daemon.get("/metrics");
    let text = daemon.get("/metrics").text();
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').unwrap();
        printed.insert(name.to_owned(), (kind.to_owned(), BTreeSet::new()));
    }
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((name, rest)) = line.split_once('{') else {
            continue;
        };
        let name = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|end| {
                name.strip_suffix(end)
                    .filter(|name| printed.contains_key(*name))
            })
            .unwrap_or(name);
        let labels = rest.split_once('}').unwrap().0;
        let labels = labels
            .split("\",")
            .filter_map(|label| label.split_once('='));
        let labels = labels
            .map(|(label, _)| label.to_owned())
            .filter(|label| label != "le");
        printed.get_mut(name).unwrap().1.extend(labels);
    }
    let documented: BTreeMap<String, (String, BTreeSet<String>)> = rows("Metrics")
        .into_iter()
        .map(|row| {
            let labels = row[2].split(", ").filter(|label| !label.is_empty());
            let labels = labels.map(str::to_owned).collect();
            (row[0].clone(), (row[1].clone(), labels))
        })
        .collect();
    assert_eq!(documented, printed);
}

#[test]
fn retention_deletes_old_records_and_is_recorded() {
    let Some(clock) = ShiftedClock::new() else {
        return;
    };
    let setup = Setup::new().config("retention_days = 7");
    let daemon = clock.on(setup).start();
    daemon.ask("mkdir of-day-0");
    thread::sleep(std::time::Duration::from_millis(300));
    assert!(
        daemon.stderr().contains("older than 7 days"),
        "{}",
        daemon.stderr()
    );
    clock.forward(5 * DAY);
    daemon.ask("mkdir of-day-5");
    clock.forward(8 * DAY);
    let commands = |daemon: &Daemon| -> Vec<String> {
        let records = daemon.get("/api/hooks/decisions").ok()["decisions"].clone();
        let records = records.as_array().unwrap().iter();
        records
            .map(|it| it["command"].as_str().unwrap().to_owned())
            .collect()
    };
    for _ in 0..600 {
        if commands(&daemon).len() == 1 {
            break;
        }
        thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(commands(&daemon), ["mkdir of-day-5"]);
    // The next check neither deletes a record nor leaves one.
    clock.forward(8 * DAY + 7_300);
    thread::sleep(std::time::Duration::from_millis(2_500));
    assert_eq!(commands(&daemon), ["mkdir of-day-5"]);
    let setup = daemon.into_setup();
    let summary = assert_intact(&setup.database_file().display().to_string());
    assert_eq!(
        summary
            .matches("by retention of 7 days: 1 decisions")
            .count(),
        1,
        "{summary}"
    );
    assert_eq!(summary.matches("cleanup at").count(), 1, "{summary}");
}

#[test]
fn retention_is_off_by_default_and_has_a_range() {
    for days in ["0", "36501"] {
        let config = format!("retention_days = {days}");
        let (_, stderr) = Setup::new().config(&config).fail();
        assert!(
            stderr.contains("retention_days") && stderr.contains("36500"),
            "{stderr}"
        );
    }
    let Some(clock) = ShiftedClock::new() else {
        return;
    };
    let daemon = clock.on(Setup::new()).start();
    daemon.ask("mkdir old");
    clock.forward(9_000 * DAY);
    thread::sleep(std::time::Duration::from_millis(1_500));
    assert_eq!(
        daemon.get("/api/hooks/decisions").ok()["pagination"]["total"],
        1
    );
    assert!(
        !daemon.stderr().contains("older than"),
        "{}",
        daemon.stderr()
    );
}

#[test]
fn end_of_the_service_ends_long_polls_and_keeps_their_questions() {
    let mut daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let target = format!("/api/hooks/decisions/{}?wait=50", permission["id"]);
    let port = daemon.port;
    let waiting: Vec<_> = (0..8)
        .map(|_| {
            let target = target.clone();
            thread::spawn(move || Request::new("GET", &target).try_send(port))
        })
        .collect();
    // Requests are counted when they end, so only a delay ensures that they have begun.
    thread::sleep(std::time::Duration::from_millis(1_000));
    assert!(daemon.terminate().success());
    for waiting in waiting {
        let answer = waiting
            .join()
            .unwrap()
            .expect("a response before the connection closes");
        let body = answer.error(503, "SHUTTING_DOWN");
        assert_eq!(body["retry_after_seconds"], 1, "{body}");
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    assert!(!daemon.stderr().contains("cut off"), "{}", daemon.stderr());
    let daemon = daemon.restart(|setup| setup);
    assert_eq!(daemon.pending().len(), 1, "the question is still pending");
    daemon.respond(&permission["id"], "APPROVED").ok();
    assert_eq!(daemon.get(&target).ok()["user_response"], "APPROVED");
}

#[test]
fn backup_under_load_contains_every_answered_request_and_is_restorable() {
    let daemon = Daemon::plain();
    let port = daemon.port;
    let stop = AtomicBool::new(false);
    let copy = daemon.setup().folder().join("operator/copy.db");
    let database = daemon.setup().database_file();
    let (known, summary) = thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let stop = &stop;
                scope.spawn(move || {
                    let mut ids = Vec::new();
                    while !stop.load(Ordering::Relaxed) {
                        let body = json!({ "command": format!("mkdir {writer}-{}", ids.len()) });
                        let permission = ask(&body).send(port).ok();
                        ids.push(permission["id"].as_i64().unwrap());
                    }
                    ids
                })
            })
            .collect();
        while daemon.get("/api/hooks/decisions?limit=1").ok()["pagination"]["total"]
            .as_i64()
            .unwrap()
            < 200
        {
            thread::sleep(std::time::Duration::from_millis(20));
        }
        let before = daemon.get("/api/hooks/decisions?limit=1000").ok();
        let before = before["decisions"].as_array().unwrap().clone();
        let file = copy.display().to_string();
        let url = format!("sqlite:{}", database.display());
        let output = program(
            daemon.setup(),
            &["audit", "backup", &file, "--database", &url],
        );
        assert!(output.status.success(), "{output:?}");
        stop.store(true, Ordering::Relaxed);
        let written: usize = writers.into_iter().map(|it| it.join().unwrap().len()).sum();
        assert!(written > before.len(), "nothing was written meanwhile");
        (before, String::from_utf8(output.stdout).unwrap())
    });
    assert!(summary.starts_with("intact: "), "{summary}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&copy).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
    }
    for beside in ["db-wal", "db-shm"] {
        assert!(
            !copy.with_extension(beside).exists(),
            "no other file was created"
        );
    }
    // As on the page: stop the service, restore the copy, delete the files beside it.
    let setup = daemon.into_setup();
    fs::copy(&copy, &database).unwrap();
    for beside in ["db-wal", "db-shm"] {
        let _ = fs::remove_file(database.with_extension(beside));
    }
    let daemon = setup.start();
    for record in &known {
        assert_eq!(daemon.record(&record["id"])["command"], record["command"]);
    }
    // It continues where the copy ends.
    let permission = daemon.ask("mkdir after");
    daemon.respond(&permission["id"], "DENIED").ok();
    let setup = daemon.into_setup();
    assert_intact(&setup.database_file().display().to_string());
    let nowhere = setup.folder().join("no-such.db");
    let name = nowhere.display().to_string();
    let output = program(&setup, &["audit", "verify", "--database", &name]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && stderr.contains("no-such.db"),
        "{output:?}"
    );
    assert!(
        !nowhere.exists(),
        "a missing trail is not created, and is not intact"
    );
}

#[test]
fn backup_overwrites_no_file_and_names_the_path_in_errors() {
    let daemon = Daemon::plain();
    daemon.ask("ls");
    let url = format!("sqlite:{}", daemon.setup().database_file().display());
    let file = daemon.setup().folder().join("operator/precious.txt");
    fs::write(&file, "precious").unwrap();
    let name = file.display().to_string();
    let output = program(
        daemon.setup(),
        &["audit", "backup", &name, "--database", &url],
    );
    assert!(!output.status.success(), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("precious.txt"), "{stderr}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    let nowhere = daemon
        .setup()
        .folder()
        .join("no/such/copy.db")
        .display()
        .to_string();
    let output = program(
        daemon.setup(),
        &["audit", "backup", &nowhere, "--database", &url],
    );
    assert!(!output.status.success(), "{output:?}");
}

/// Returns the words of a list-form instruction of the container file.
fn list(file: &str, instruction: &str) -> Vec<String> {
    let line = file
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix(instruction))
        .unwrap();
    serde_json::from_str(line).unwrap()
}

#[test]
fn container_starts_with_its_command_line_and_configuration() {
    let folder = repository().join("contrib/container");
    let file = fs::read_to_string(folder.join("Containerfile")).unwrap();
    let manifest = include_str!("../../Cargo.toml");
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = "))
        .unwrap();
    let image = format!("/rust:{}-", version.trim_matches('"'));
    assert!(file.contains(&image), "the compiler is `{image}`");
    for line in file
        .lines()
        .filter(|line| line.starts_with("COPY ") && !line.contains("--from"))
    {
        let source = line.split(' ').nth(1).unwrap();
        assert!(repository().join(source).exists(), "there is no `{source}`");
    }
    let needed = fs::read_to_string(folder.join("Containerfile.dockerignore")).unwrap();
    let workspace = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let members = workspace
        .split_once("members = [")
        .unwrap()
        .1
        .split(']')
        .next()
        .unwrap();
    for member in members.split(", ").map(|member| member.trim_matches('"')) {
        let top = member.split('/').next().unwrap();
        assert!(
            needed.lines().any(|line| line == format!("!{top}")),
            "`{top}` is left out"
        );
    }
    for line in needed.lines().filter_map(|line| line.strip_prefix('!')) {
        assert!(repository().join(line).exists(), "there is no `{line}`");
    }
    assert_eq!(list(&file, "ENTRYPOINT "), ["hooks-guard"]);
    let words = list(&file, "CMD ");
    // Paths that differ here, and the port, which may be in use here.
    let mut setup = Setup::new()
        .listen(Some("0.0.0.0:0"))
        .without_token()
        .without_database();
    let token = setup.folder().join("operator/token").display().to_string();
    for word in &words[1..] {
        setup = setup.argument(match word.as_str() {
            "/etc/hooks-guard/config.toml" => folder.join("config.toml").display().to_string(),
            "/run/secrets/token" => token.clone(),
            word => word.to_owned(),
        });
    }
    assert_eq!(words[0], "serve");
    let daemon = setup.start();
    assert!(daemon.address.starts_with("0.0.0.0:"), "{}", daemon.address);
    let permission = daemon.ask("mkdir out");
    daemon.respond(&permission["id"], "DENIED").ok();
    let cleanup = "/api/hooks/cleanup?force=true";
    daemon.delete(cleanup).error(401, "OPERATOR_TOKEN_REQUIRED");
    let home = daemon.setup().home();
    assert!(
        home.join(".local/share/hooks-guard/audit.db").exists(),
        "it is on the volume"
    );
}

#[test]
fn systemd_accepts_the_unit() {
    if !has("systemd-analyze") {
        return;
    }
    let setup = Setup::new();
    let home = setup.home();
    let binary = home.join(".cargo/bin/hooks-guard");
    fs::create_dir_all(binary.parent().unwrap()).unwrap();
    // A file that is open for writing in a process while another thread forks cannot be executed.
    let copied = Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_hooks-guard"))
        .arg(&binary)
        .status();
    assert!(copied.unwrap().success());
    let unit = repository().join("contrib/systemd/hooks-guard.service");
    let text = fs::read_to_string(&unit).unwrap();
    let verify = |unit: &Path| {
        let output = Command::new("systemd-analyze")
            .args(["verify", "--user", "--man=no"])
            .arg(unit)
            .env("HOME", &home)
            .env("XDG_RUNTIME_DIR", home.join("run"))
            .output()
            .unwrap();
        let mut output_bytes = output.stdout.clone();
        output_bytes.extend(&output.stderr);
        (
            output.status.success(),
            String::from_utf8_lossy(&output_bytes).into_owned(),
        )
    };
    assert_eq!(verify(&unit), (true, String::new()));
    // `systemd-analyze` accepts these, but with them no user service starts.
    for setting in [
        "CapabilityBoundingSet",
        "AmbientCapabilities",
        "ProtectClock",
        "ProtectKernelLogs",
        "ProtectKernelModules",
        "PrivateDevices",
    ] {
        assert!(!text.contains(setting), "`{setting}`");
    }
    // A wrong setting is reported.
    let wrong = setup.folder().join("wrong.service");
    fs::write(&wrong, text.replace("LockPersonality", "LockPersonalty")).unwrap();
    assert!(verify(&wrong).1.contains("LockPersonalty"));
    // The command that it starts, with its arguments.
    let exec = text
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="))
        .unwrap();
    let words: Vec<String> = exec
        .split(' ')
        .map(|word| word.replace("%h", &home.display().to_string()))
        .collect();
    assert_eq!(words[0], binary.display().to_string());
    let config = home.join(".config/hooks-guard");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("token"), TOKEN).unwrap();
    let mut setup = setup.without_token().without_database();
    assert_eq!(words[1], "serve");
    for word in &words[2..] {
        setup = setup.argument(word);
    }
    let database = setup.home().join(".local/share/hooks-guard/audit.db");
    let daemon = setup.start();
    let permission = daemon.ask("mkdir out");
    daemon.respond(&permission["id"], "APPROVED").ok();
    // A path that the unit may write to.
    assert!(text.contains("ReadWritePaths=%h/.local/share/hooks-guard "));
    assert!(database.exists());
}

#[test]
fn completions_and_manual_pages_are_generated() {
    let setup = Setup::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = program(&setup, &["completions", shell]);
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success());
        for word in ["test-rules", "token-file"] {
            assert!(script.contains(word), "{shell}: `{word}`");
        }
        // Only these shells complete values, too.
        assert!(!["bash", "zsh"].contains(&shell) || script.contains("claude-code"));
    }
    let folder = setup.folder().join("man");
    let name = folder.display().to_string();
    assert!(
        program(&setup, &["man", "--directory", &name])
            .status
            .success()
    );
    for (page, word) in [
        ("hooks-guard.1", "approve"),
        ("hooks-guard-serve.1", "HOOKS_GUARD_TOKEN_FILE"),
        ("hooks-guard-audit-backup.1", "SQLite"),
    ] {
        let text = fs::read_to_string(folder.join(page)).unwrap();
        assert!(
            text.starts_with(".ie") || text.contains(".TH"),
            "{page}: {text}"
        );
        assert!(text.contains(word), "{page}: {word}");
    }
    let printed = program(&setup, &["man"]).stdout;
    assert!(String::from_utf8(printed).unwrap().contains(".TH"));
    // Accepted by a shell.
    if has("bash") {
        let script = setup.folder().join("completion");
        let text = String::from_utf8(program(&setup, &["completions", "bash"]).stdout).unwrap();
        let (_, function) = text.rsplit_once("complete -F ").unwrap();
        let function = function.split(' ').next().unwrap();
        fs::write(&script, &text).unwrap();
        let tried = setup.folder().join("try");
        fs::write(
            &tried,
            format!(
                "source '{}'\nCOMP_WORDS=(hooks-guard aud)\nCOMP_CWORD=1\n\
                 {function} hooks-guard aud hooks-guard\necho \"${{COMPREPLY[@]}}\"\n",
                script.display()
            ),
        )
        .unwrap();
        let output = Command::new("bash").arg(&tried).output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert_eq!(stdout.trim(), "audit", "{output:?}");
    }
}

/// Returns all `tracing::LEVEL!("message")` of the library and of `serve`.
fn logged() -> BTreeSet<(String, String)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeSet::new();
    for file in crate::support::files_below(&source) {
        // An agent's hook writes no log, the proxy writes one of its own, and `replay` warns on
        // the terminal that it was run in.
        let others = [
            "cli/hook.rs",
            "cli/replay.rs",
            "decider/service.rs",
            "cli/acp.rs",
            "acp/proxy.rs",
        ];
        if others.iter().any(|other| file.ends_with(other)) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        for part in text.split("tracing::").skip(1) {
            let Some((level, rest)) = part.split_once("!(") else {
                continue;
            };
            if !["error", "warn", "info", "debug", "trace"].contains(&level) {
                continue;
            }
            // The message is the last string of the statement.
            let call = rest
                .split(");")
                .next()
                .unwrap_or(rest)
                .split("),\n")
                .next()
                .unwrap();
            let message = call.rsplit('"').nth(1).unwrap();
            found.insert((message.to_owned(), level.to_owned()));
        }
    }
    found
}

#[test]
fn logs_on_the_page_equal_those_in_the_source() {
    let documented: BTreeSet<(String, String)> = rows("Logs")
        .into_iter()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    assert_eq!(documented, logged());
}

#[test]
fn logs_use_the_configured_level() {
    for (level, there) in [(None, false), (Some("info"), true), (Some("off"), false)] {
        let mut setup = Setup::new();
        if let Some(level) = level {
            setup = setup.environment("HOOKS_GUARD_LOG", level);
        }
        let mut daemon = setup.start();
        assert!(daemon.terminate().success());
        thread::sleep(std::time::Duration::from_millis(200));
        let stderr = daemon.stderr();
        assert_eq!(
            stderr.contains("shutting down"),
            there,
            "{level:?}: {stderr}"
        );
    }
}

#[test]
fn every_variable_of_the_program_is_on_the_page() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeSet::new();
    for file in crate::support::files_below(&source) {
        let text = fs::read_to_string(&file).unwrap();
        for part in text.split("HOOKS_GUARD_").skip(1) {
            let end = part.find(|c: char| !c.is_ascii_uppercase() && c != '_');
            let name = &part[..end.unwrap_or(part.len())];
            found.insert(format!("HOOKS_GUARD_{name}"));
        }
    }
    assert!(found.len() > 7, "{found:?}");
    let section = PAGE.split("\n## Every option\n").next().unwrap();
    for name in found {
        assert!(
            section.contains(&format!("`{name}`")),
            "`{name}` is missing"
        );
    }
}

#[test]
fn configuration_on_the_page_has_the_actual_keys_and_defaults() {
    use hooks_guard::config::Config;

    let defaults = serde_json::to_value(Config::default()).unwrap();
    let semantic = Config::parse("[semantic]\nurl = 'http://localhost'\nmodel = 'm'").unwrap();
    let semantic = serde_json::to_value(semantic.semantic).unwrap();
    let mut expected: BTreeMap<String, Value> = BTreeMap::new();
    for (key, value) in defaults.as_object().unwrap() {
        match value {
            Value::Object(table) => expected.extend(
                table
                    .iter()
                    .map(|(inner, value)| (format!("{key}.{inner}"), value.clone())),
            ),
            value => drop(expected.insert(key.clone(), value.clone())),
        }
    }
    for key in semantic.as_object().unwrap().keys() {
        expected.insert(format!("semantic.{key}"), Value::Null);
    }
    let documented: BTreeMap<String, Value> = rows("Configuration")
        .into_iter()
        .map(|row| {
            let value = match row[1].as_str() {
                "none" => Value::Null,
                text => serde_json::from_str(text).unwrap_or_else(|_| panic!("{row:?}")),
            };
            (row[0].clone(), value)
        })
        .collect();
    assert_eq!(documented, expected);
}
