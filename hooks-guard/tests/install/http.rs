//! Tests the installation of hooks that an agent calls over HTTP.

use std::fs;
use std::net::SocketAddr;

use hooks_guard::install::{FileChange, InstallError, install};
use hooks_guard::protocol::Agent;
use serde_json::{Value, json};

use crate::install::Home;

fn entries(home: &Home) -> Value {
    let settings: Value = serde_json::from_str(&home.read(Agent::ClaudeCode)).unwrap();
    settings["hooks"].clone()
}

#[test]
fn claude_code_posts_its_hooks_to_the_service() {
    let mut home = Home::new();
    home.options.http = true;
    let report = home.install(Agent::ClaudeCode);
    assert_eq!(report.change, FileChange::Created);
    let to_do = report.to_do.join(" ");
    assert!(to_do.contains("hooks-guard token claude-code"), "{to_do}");
    let hooks = entries(&home);
    let handler = |event: &str| {
        assert_eq!(hooks[event][0]["matcher"], "*", "{event}");
        hooks[event][0]["hooks"][0].clone()
    };
    let variables = [
        "HOOKS_GUARD_AGENT_TOKEN",
        "CLAUDE_CODE_ENTRYPOINT",
        "HOME",
        "HOOKS_GUARD_UNATTENDED",
    ];
    assert_eq!(
        handler("PreToolUse"),
        json!({
            "type": "http",
            "url": "http://127.0.0.1:3000/api/hooks/agents/claude-code?timeout=600",
            "timeout": 600,
            "headers": {
                "Authorization": "Bearer $HOOKS_GUARD_AGENT_TOKEN",
                "X-Hooks-Guard-Env-CLAUDE-CODE-ENTRYPOINT": "$CLAUDE_CODE_ENTRYPOINT",
                "X-Hooks-Guard-Env-HOME": "$HOME",
                "X-Hooks-Guard-Env-HOOKS-GUARD-UNATTENDED": "$HOOKS_GUARD_UNATTENDED",
            },
            "allowedEnvVars": variables,
            "onFailure": "block",
        })
    );
    assert_eq!(handler("PreSkillShellCommand")["onFailure"], "block");
    for event in ["PermissionDenied", "PostToolUse", "PostToolUseFailure"] {
        let handler = handler(event);
        assert_eq!(handler["onFailure"], Value::Null, "{event}");
        assert!(
            handler["url"].as_str().unwrap().ends_with("?timeout=10"),
            "{handler}"
        );
    }
    assert_eq!(home.install(Agent::ClaudeCode).change, FileChange::None);
    home.options.unattended = true;
    assert_eq!(home.install(Agent::ClaudeCode).change, FileChange::Changed);
    let url = entries(&home)["PreToolUse"][0]["hooks"][0]["url"].clone();
    assert!(
        url.as_str()
            .unwrap()
            .ends_with("?timeout=600&unattended=true"),
        "{url}"
    );
}

#[test]
fn the_other_kind_of_entry_is_replaced_and_removed() {
    let before = "{\n  // mine\n  \"model\": \"opus\"\n}\n";
    let mut home = Home::with(Agent::ClaudeCode, before);
    let kinds = |home: &Home| {
        let hooks = entries(home);
        let lists = hooks.as_object().unwrap().values();
        let handlers = lists.flat_map(|list| list.as_array().unwrap());
        handlers
            .map(|entry| entry["hooks"][0]["type"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    home.options.http = true;
    home.install(Agent::ClaudeCode);
    home.options.http = false;
    home.uninstall(Agent::ClaudeCode);
    assert_eq!(
        home.read(Agent::ClaudeCode),
        before,
        "restored byte for byte"
    );
    home.install(Agent::ClaudeCode);
    home.options.http = true;
    home.install(Agent::ClaudeCode);
    let text = home.read(Agent::ClaudeCode).replace("  // mine\n", "");
    fs::write(home.settings(Agent::ClaudeCode), &text).unwrap();
    assert_eq!(kinds(&home), vec!["http"; 5]);
    home.options.http = false;
    home.install(Agent::ClaudeCode);
    assert_eq!(kinds(&home), vec!["command"; 5]);
    // A changed file loses the entries only, also those of another address.
    home.options.http = true;
    home.options.service = "127.0.0.1:4000".parse().unwrap();
    home.install(Agent::ClaudeCode);
    home.options.http = false;
    home.options.service = "127.0.0.1:3000".parse().unwrap();
    home.uninstall(Agent::ClaudeCode);
    let left: Value = serde_json::from_str(&home.read(Agent::ClaudeCode)).unwrap();
    assert_eq!(left, json!({"model": "opus"}));
}

#[test]
fn hooks_of_others_over_http_are_kept() {
    let other = json!({"hooks": {"PreToolUse": [
        {"matcher": "*", "hooks": [{"type": "http", "url": "http://127.0.0.1:8080/hook"}]},
        {"matcher": "*", "hooks": [{"type": "http",
            "url": "http://127.0.0.1:3000/api/hooks/agents/codex"}]},
    ]}});
    let mut home = Home::with(Agent::ClaudeCode, &other.to_string());
    home.options.http = true;
    home.install(Agent::ClaudeCode);
    assert_eq!(entries(&home)["PreToolUse"].as_array().unwrap().len(), 3);
    home.uninstall(Agent::ClaudeCode);
    assert_eq!(home.read(Agent::ClaudeCode), other.to_string());
}

#[test]
fn only_a_loopback_address_is_installed() {
    let url = |listen: &str| {
        let mut home = Home::new();
        home.options.http = true;
        home.options.service = listen.parse::<SocketAddr>().unwrap();
        install(Agent::ClaudeCode, &home.options)?;
        let url = entries(&home)["PreToolUse"][0]["hooks"][0]["url"].clone();
        Ok::<_, InstallError>(url.as_str().unwrap().to_owned())
    };
    for (listen, start) in [
        ("127.0.0.1:4000", "http://127.0.0.1:4000/"),
        ("0.0.0.0:4000", "http://127.0.0.1:4000/"),
        ("[::1]:4000", "http://[::1]:4000/"),
        ("[::]:4000", "http://[::1]:4000/"),
    ] {
        let url = url(listen).unwrap();
        assert!(url.starts_with(start), "{listen}: {url}");
    }
    for listen in ["192.0.2.7:3000", "127.0.0.1:0", "[2001:db8::1]:3000"] {
        let error = url(listen).unwrap_err().to_string();
        assert!(
            error.contains(listen) && error.contains("loopback"),
            "{error}"
        );
    }
}

#[test]
fn other_agents_cannot_post_their_hooks() {
    let mut home = Home::new();
    home.options.http = true;
    for agent in Agent::ALL {
        if agent == Agent::ClaudeCode {
            continue;
        }
        let error = install(agent, &home.options).unwrap_err().to_string();
        assert!(error.contains("cannot call hooks over HTTP"), "{error}");
    }
    assert!(home.files().is_empty());
}

/// Versions before 2.1.295 ignore `onFailure`, so they would run every tool without the service.
#[cfg(unix)]
#[test]
fn a_version_that_fails_open_is_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let mut home = Home::new();
    home.options.http = true;
    home.options.path = Some(home.path().join("bin").into());
    fs::create_dir_all(home.path().join("bin")).unwrap();
    fs::create_dir_all(home.path().join("versions")).unwrap();
    for (version, is_refused) in [("2.1.294", true), ("2.1.295", false)] {
        let program = home.path().join("versions").join(version);
        fs::write(&program, "").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let _ = fs::remove_file(home.path().join("bin/claude"));
        symlink(&program, home.path().join("bin/claude")).unwrap();
        let installed = install(Agent::ClaudeCode, &home.options);
        assert_eq!(installed.is_err(), is_refused, "{version}");
        if let Err(error) = installed {
            let error = error.to_string();
            assert!(
                error.contains("2.1.294") && error.contains("update it"),
                "{error}"
            );
            assert!(!home.settings(Agent::ClaudeCode).exists());
        }
    }
}
