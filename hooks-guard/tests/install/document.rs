//! Tests the changes of JSON documents.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use hooks_guard::install::{DocumentError, FileChange, InstallError, install, uninstall};
use hooks_guard::protocol::Agent;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::install::Home;

const JSON: [Agent; 6] = [
    Agent::ClaudeCode,
    Agent::Codex,
    Agent::Gemini,
    Agent::Cursor,
    Agent::Copilot,
    Agent::VsCode,
];

/// The configuration and the trail: no variable that a project sets redirects the hook.
const FILES: &str = "--config /srv/ada/.config/hooks-guard/config.toml \
                     --database /srv/ada/.local/share/hooks-guard/audit.db";

#[test]
fn installed_settings_have_the_format_of_each_agent() {
    let line = |agent: &str| {
        format!(
            "/opt/guard/hooks-guard hook {agent} --timeout 600 {FILES} \
             || {{ echo 'hooks-guard failed: refused' >&2; exit 2; }}"
        )
    };
    let read = |agent: Agent| -> Value {
        let home = Home::new();
        assert_eq!(home.install(agent).change, FileChange::Created);
        serde_json::from_str(&home.read(agent)).unwrap()
    };
    let claude = read(Agent::ClaudeCode);
    let before = &claude["hooks"]["PreToolUse"][0];
    assert_eq!(
        before["hooks"],
        json!([{"type": "command", "command": line("claude-code"), "timeout": 600,
        "onFailure": "block"}])
    );
    assert_eq!(before["matcher"], "*", "any tool may have a `command`");
    assert_eq!(claude["hooks"]["PreSkillShellCommand"][0], *before);
    for event in ["PostToolUse", "PostToolUseFailure", "PermissionDenied"] {
        let after = &claude["hooks"][event][0]["hooks"][0];
        assert_eq!(after["timeout"], 10);
        let line = format!("/opt/guard/hooks-guard hook claude-code --timeout 10 {FILES}");
        assert_eq!(
            after["command"], line,
            "no fallback denies after a tool call"
        );
    }

    let codex = read(Agent::Codex);
    // Codex rejects a file with any other key.
    assert_eq!(
        codex.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["hooks"]
    );
    for event in ["PreToolUse", "PermissionRequest", "PostToolUse"] {
        assert_eq!(
            codex["hooks"][event][0]["matcher"],
            "^(Bash|apply_patch|mcp__.*)$"
        );
    }
    assert_eq!(
        codex["hooks"]["PreToolUse"][0]["hooks"][0]["command"],
        line("codex")
    );

    let gemini = read(Agent::Gemini);
    let before = &gemini["hooks"]["BeforeTool"][0];
    assert!(
        before["matcher"]
            .as_str()
            .unwrap()
            .starts_with("^(run_shell_command|")
    );
    assert!(before["matcher"].as_str().unwrap().ends_with("|mcp_.*)$"));
    assert_eq!(before["hooks"][0]["timeout"], 600_000, "milliseconds");

    let cursor = read(Agent::Cursor);
    assert_eq!(cursor["version"], 1);
    let before = &cursor["hooks"]["beforeShellExecution"][0];
    assert_eq!(
        *before,
        json!({"command": line("cursor"), "timeout": 600, "failClosed": true})
    );
    assert_eq!(cursor["hooks"]["preToolUse"][0]["failClosed"], true);
    let files = cursor["hooks"]["preToolUse"][0]["matcher"]
        .as_str()
        .unwrap();
    assert!(
        !files.split('|').any(|tool| tool == "Shell"),
        "asked about once: {files}"
    );

    let copilot = read(Agent::Copilot);
    assert_eq!(copilot["version"], 1);
    let before = &copilot["hooks"]["preToolUse"][0];
    assert_eq!(before["bash"], line("copilot"));
    assert_eq!(
        before["powershell"],
        "& '/opt/guard/hooks-guard' hook copilot --timeout 600 \
         --config '/srv/ada/.config/hooks-guard/config.toml' \
         --database '/srv/ada/.local/share/hooks-guard/audit.db'"
    );
    assert_eq!(before["timeoutSec"], 600);

    let vscode = read(Agent::VsCode);
    assert_eq!(
        vscode["hooks"]["PreToolUse"],
        json!([{"type": "command",
        "command": line("vscode"), "timeout": 600}])
    );
}

/// The shell passes the paths to the hook unchanged, whatever characters they contain.
#[test]
fn installed_paths_reach_the_hook_unchanged() {
    let (config, trail) = (
        "/srv/a b/it's $HOME; `x`.toml",
        "/srv/a b/\"q\" 'r' hook x.db",
    );
    let mut home = Home::new();
    home.options.config = config.into();
    home.options.database = Some(trail.into());
    // A program in the guard's place prints its arguments.
    let binary = home.path().join("a 'b/hooks-guard");
    fs::create_dir_all(binary.parent().unwrap()).unwrap();
    fs::write(&binary, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n").unwrap();
    fs::set_permissions(&binary, PermissionsExt::from_mode(0o755)).unwrap();
    home.options.binary = binary;
    home.install(Agent::ClaudeCode);
    let settings: Value = serde_json::from_str(&home.read(Agent::ClaudeCode)).unwrap();
    let line = &settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
    let output = Command::new("sh")
        .args(["-c", line.as_str().unwrap()])
        .output()
        .unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = words.lines().collect();
    assert_eq!(words[4..], ["--config", config, "--database", trail]);
    // The installed entry is recognised.
    assert_eq!(home.install(Agent::ClaudeCode).change, FileChange::None);
    assert_eq!(
        home.uninstall(Agent::ClaudeCode).change,
        FileChange::Removed
    );
}

#[test]
fn a_configuration_without_an_absolute_path_is_not_installed() {
    for path in ["config.toml", "./config.toml", "", "/srv/a\nb.toml"] {
        let mut home = Home::new();
        home.options.config = path.into();
        let error = install(Agent::Codex, &home.options).unwrap_err();
        assert!(
            matches!(error, InstallError::Argument { .. }),
            "{path:?}: {error}"
        );
        assert!(home.files().is_empty());
    }
}

/// The installed command denies by itself, with a status that every agent treats as a denial.
#[test]
fn the_installed_command_denies_if_the_guard_fails() {
    let mut home = Home::new();
    let binary = home.path().join("it's here/hooks-guard");
    fs::create_dir_all(binary.parent().unwrap()).unwrap();
    home.options.binary = binary.clone();
    home.install(Agent::Codex);
    let settings: Value = serde_json::from_str(&home.read(Agent::Codex)).unwrap();
    let entry = &settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
    let run = || {
        let line = entry.as_str().unwrap();
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(line).output().unwrap()
    };
    let output = run();
    assert_eq!(output.status.code(), Some(2), "missing: {output:?}");
    for (script, code) in [
        ("exit 0", 0),
        ("exit 1", 2),
        ("exit 2", 2),
        ("exit 101", 2),
        ("kill -KILL $$", 2),
    ] {
        fs::write(&binary, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
        let output = run();
        assert_eq!(output.status.code(), Some(code), "{script}: {output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            code == 2,
            stderr.contains("hooks-guard failed: refused"),
            "{stderr}"
        );
    }
}

#[test]
fn an_installation_for_unattended_agents_can_be_changed_and_removed() {
    for agent in JSON {
        let mut home = Home::new();
        home.options.unattended = true;
        home.install(agent);
        let text = home.read(agent);
        assert!(
            text.contains("--timeout 600 --unattended"),
            "{agent}: {text}"
        );
        home.options.unattended = false;
        assert_eq!(home.install(agent).change, FileChange::Changed);
        assert!(!home.read(agent).contains("--unattended"), "{agent}");
        assert_eq!(home.uninstall(agent).change, FileChange::Removed);
    }
}

#[test]
fn copilot_home_selects_the_settings_of_copilot() {
    let homes = hooks_guard::install::Homes::new("/srv/dev".as_ref(), |name| {
        (name == "COPILOT_HOME").then(|| "/srv/copilot".into())
    });
    let place = hooks_guard::install::SettingsScope::User;
    let file = homes.settings(Agent::Copilot, &place);
    assert_eq!(
        file,
        std::path::Path::new("/srv/copilot/hooks/hooks-guard.json")
    );
    let code = homes.settings(Agent::VsCode, &place);
    assert!(
        code.starts_with("/srv/dev/.copilot"),
        "VS Code does not heed it"
    );
}

#[test]
fn other_settings_are_preserved() {
    let text = r#"// mine
{
    // the model
    "model": "x", /* of today */
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine.sh"}]}, // first
        ],
        "Stop": [{"hooks": []}],
    },
    "unknown": {"a": [1, 2.50, 1e3, "\u00e9"]},
}
"#;
    let home = Home::with(Agent::ClaudeCode, text);
    let report = home.install(Agent::ClaudeCode);
    assert_eq!(report.change, FileChange::Changed);
    let installed = home.read(Agent::ClaudeCode);
    for line in text.lines() {
        let line = line.trim().trim_end_matches(',');
        assert!(installed.contains(line), "{line} is gone:\n{installed}");
    }
    let first = installed.find("mine.sh").unwrap();
    let second = installed.find("/opt/guard/hooks-guard").unwrap();
    assert!(first < second, "existing entries come first");
    assert!(report.diff.starts_with("--- "), "{}", report.diff);
    assert_eq!(
        home.install(Agent::ClaudeCode).change,
        FileChange::None,
        "a second time"
    );
    assert_eq!(home.read(Agent::ClaudeCode), installed);
    assert_eq!(
        home.uninstall(Agent::ClaudeCode).change,
        FileChange::Changed
    );
    assert_eq!(home.read(Agent::ClaudeCode), text);
}

#[test]
fn later_changes_of_the_settings_survive_uninstalling() {
    let home = Home::with(Agent::ClaudeCode, "{\n  // mine\n  \"model\": \"x\"\n}\n");
    home.install(Agent::ClaudeCode);
    let changed = home.read(Agent::ClaudeCode).replace("\"x\"", "\"y\"");
    fs::write(home.settings(Agent::ClaudeCode), &changed).unwrap();
    home.uninstall(Agent::ClaudeCode);
    let left = home.read(Agent::ClaudeCode);
    assert!(left.contains("// mine") && left.contains("\"y\""), "{left}");
    assert!(!left.contains("hooks"), "{left}");
}

#[test]
fn another_hook_in_the_same_group_is_preserved() {
    let home = Home::new();
    home.install(Agent::Codex);
    let text = home.read(Agent::Codex).replacen(
        "\"hooks\": [\n          {",
        "\"hooks\": [\n          {\"type\": \"command\", \"command\": \"mine.sh\"},\n          {",
        1,
    );
    assert!(text.contains("mine.sh"));
    fs::write(home.settings(Agent::Codex), text).unwrap();
    home.uninstall(Agent::Codex);
    let left: Value = serde_json::from_str(&home.read(Agent::Codex)).unwrap();
    assert_eq!(
        left["hooks"]["PreToolUse"][0]["hooks"][0]["command"],
        "mine.sh"
    );
    assert!(!left.to_string().contains("hooks-guard hook"), "{left}");
}

#[test]
fn installing_a_moved_binary_replaces_the_old_entry() {
    for agent in JSON {
        let mut home = Home::with(agent, "{\"version\": 1}");
        home.install(agent);
        home.options.binary = "/opt/it's new/hooks-guard".into();
        assert_eq!(home.install(agent).change, FileChange::Changed);
        let text = home.read(agent);
        assert!(!text.contains("/opt/guard/"), "{text}");
        assert_eq!(home.install(agent).change, FileChange::None);
        let value: Value = serde_json::from_str(&text).unwrap();
        let once = |list: &Value| list.as_array().is_some_and(|list| list.len() == 1);
        assert!(
            value["hooks"].as_object().unwrap().values().all(once),
            "{text}"
        );
        assert_eq!(home.uninstall(agent).change, FileChange::Changed);
        assert_eq!(home.read(agent), "{\"version\": 1}", "{agent}");
    }
}

#[test]
fn a_hook_entry_of_another_agent_is_preserved() {
    let other =
        r#"{"hooks": {"PreToolUse": [{"type": "command", "command": "hooks-guard hook codex"}]}}"#;
    let home = Home::with(Agent::VsCode, other);
    assert_eq!(home.uninstall(Agent::VsCode).change, FileChange::None);
    home.install(Agent::VsCode);
    assert!(home.read(Agent::VsCode).contains("hook codex"));
}

#[test]
fn invalid_json_is_unchanged_and_the_error_has_its_position() {
    for (text, line, column) in [
        ("{\n  \"a\": 1,\n  \"b\" 2\n}", 3, 7),
        ("{\"a\": 'x'}", 1, 7),
        ("{\n", 1, 1),
        ("{} {}", 1, 4),
    ] {
        let home = Home::with(Agent::ClaudeCode, text);
        for error in [
            install(Agent::ClaudeCode, &home.options).unwrap_err(),
            uninstall(Agent::ClaudeCode, &home.options).unwrap_err(),
        ] {
            let shown = error.to_string();
            let InstallError::Document {
                source: DocumentError::Parse { ref excerpt, .. },
                ..
            } = error
            else {
                panic!("{text}: {shown}");
            };
            let place = (excerpt.line, excerpt.column);
            assert_eq!(place, (line, column), "{text}: {shown}");
            assert!(
                shown.contains(&format!("settings.json:{line}:{column}: ")),
                "{shown}"
            );
        }
        assert_eq!(home.read(Agent::ClaudeCode), text);
        assert_eq!(home.files().len(), 1, "no other file is left");
    }
    let deep = "{\"a\":".repeat(10_000);
    let home = Home::with(Agent::ClaudeCode, &deep);
    install(Agent::ClaudeCode, &home.options).unwrap_err();
}

#[test]
fn settings_of_another_shape_are_an_error_and_unchanged() {
    for text in [
        "[]",
        "7",
        "{\"hooks\": []}",
        "{\"hooks\": {\"PreToolUse\": {}}}",
        "{\"hooks\": {}, \"hooks\": {}}",
        "{\"hooks\": {\"PreToolUse\": [], \"PreToolUse\": []}}",
        "{\"hooks\": null}",
    ] {
        let home = Home::with(Agent::ClaudeCode, text);
        let error = install(Agent::ClaudeCode, &home.options).unwrap_err();
        assert!(
            matches!(error, InstallError::Document { .. }),
            "{text}: {error:?}"
        );
        assert_eq!(home.read(Agent::ClaudeCode), text);
    }
}

#[test]
fn an_empty_file_and_a_byte_order_mark_are_accepted() {
    for text in [
        "",
        "\n",
        "\u{feff}{\"a\": 1}",
        "\u{feff}",
        "// only this\n{}",
        "{}",
        "{ }\r\n",
    ] {
        for agent in JSON {
            let home = Home::with(agent, text);
            home.install(agent);
            let installed = home.read(agent);
            let kept = ["\u{feff}{", "// only this", "\"a\": 1"];
            for kept in kept.iter().filter(|kept| text.contains(*kept)) {
                assert!(installed.contains(kept), "{text:?}: {installed}");
            }
            assert_eq!(
                home.install(agent).change,
                FileChange::None,
                "{text:?}: {installed}"
            );
            home.uninstall(agent);
            assert_eq!(home.read(agent), text, "{agent}");
        }
    }
}

/// Generates hand-written documents, with comments and trailing commas.
fn any_document() -> impl Strategy<Value = String> {
    let gap = proptest::sample::select(vec![
        "",
        " ",
        "\n",
        "\n\n  ",
        "\t",
        " // c\n",
        " /* b */ ",
        "\r\n",
    ]);
    let comma = any::<bool>();
    let leaf = proptest::sample::select(vec![
        "1",
        "-2.50e3",
        "null",
        "true",
        "\"x\"",
        "\"// no\"",
        "\"\\u00e9\"",
        "{}",
        "[]",
    ]);
    let leaf = leaf.prop_map(str::to_owned);
    let value = leaf.prop_recursive(3, 24, 4, move |inner| {
        let list = (
            proptest::collection::vec((inner.clone(), gap.clone(), gap.clone()), 0..4),
            comma,
            gap.clone(),
        )
            .prop_map(|(items, comma, end)| {
                let items: Vec<_> = items
                    .iter()
                    .map(|(item, a, b)| format!("{a}{item}{b}"))
                    .collect();
                let comma = if comma && !items.is_empty() { "," } else { "" };
                format!("[{}{comma}{end}]", items.join(","))
            });
        let object = (
            proptest::collection::vec((inner, gap.clone(), gap.clone()), 0..4),
            comma,
            gap.clone(),
        )
            .prop_map(|(items, comma, end)| object("k", &items, comma, end));
        prop_oneof![list, object]
    });
    let gaps = || proptest::sample::select(vec!["", " ", "\n  ", " // c\n", "/* b */"]);
    let group = prop_oneof![
        Just(
            "{\"matcher\": \"X\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}"
                .to_owned()
        ),
        Just("{\"command\": \"mine\" /* m */}".to_owned()),
        value.clone(),
    ];
    let list = (
        proptest::collection::vec((group, gaps(), gaps()), 0..3),
        any::<bool>(),
        gaps(),
    )
        .prop_map(|(items, comma, end)| {
            let items: Vec<_> = items
                .iter()
                .map(|(item, a, b)| format!("{a}{item}{b}"))
                .collect();
            let comma = if comma && !items.is_empty() { "," } else { "" };
            format!("[{}{comma}{end}]", items.join(","))
        });
    let events = [
        "PreToolUse",
        "BeforeTool",
        "preToolUse",
        "beforeShellExecution",
        "PostToolUse",
        "Stop",
    ];
    let hooks = (
        proptest::sample::subsequence(events.to_vec(), 0..4),
        proptest::collection::vec(list, 4),
        gaps(),
    )
        .prop_map(|(events, lists, gap)| {
            let parts: Vec<_> = events
                .iter()
                .zip(lists)
                .map(|(event, list)| format!("{gap}\"{event}\":{list}"))
                .collect();
            format!("{{{}}}", parts.join(","))
        });
    (
        proptest::collection::vec((value, gaps(), gaps()), 0..3),
        any::<bool>(),
        proptest::option::of(hooks),
        gaps(),
        gaps(),
    )
        .prop_map(|(items, comma, hooks, end, after)| {
            let mut document = object("k", &items, comma && hooks.is_none(), end);
            if let Some(hooks) = hooks {
                let comma = if items.is_empty() { "" } else { "," };
                document.pop();
                document.push_str(&format!(
                    "{comma}\"hooks\": {hooks}{}}}",
                    if end.contains("//") { "\n" } else { "" }
                ));
            }
            document + after
        })
}

fn object(key: &str, items: &[(String, &str, &str)], comma: bool, end: &str) -> String {
    let parts: Vec<_> = items
        .iter()
        .enumerate()
        .map(|(index, (item, a, b))| format!("{a}\"{key}{index}\":{b}{item}"))
        .collect();
    let comma = if comma && !parts.is_empty() { "," } else { "" };
    format!("{{{}{comma}{end}}}", parts.join(","))
}

/// Returns the comments of a document, in order.
fn comments(text: &str) -> Vec<String> {
    let options = jsonc_parser::CollectOptions {
        comments: jsonc_parser::CommentCollectionStrategy::AsTokens,
        tokens: true,
    };
    let parsed =
        jsonc_parser::parse_to_ast(text, &options, &jsonc_parser::ParseOptions::default()).unwrap();
    let tokens = parsed.tokens.unwrap();
    let comment = |token: &jsonc_parser::tokens::TokenAndRange<'_>| {
        matches!(
            token.token,
            jsonc_parser::tokens::Token::CommentLine(_)
                | jsonc_parser::tokens::Token::CommentBlock(_)
        )
        .then(|| text[token.range.start..token.range.end].trim().to_owned())
    };
    tokens.iter().filter_map(comment).collect()
}

fn value(text: &str) -> Value {
    jsonc_parser::cst::CstRootNode::parse(text, &jsonc_parser::ParseOptions::default())
        .unwrap()
        .to_serde_value()
        .unwrap()
}

/// Returns a document without empty lists and objects under `hooks`.
fn pruned(mut value: Value) -> Value {
    if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        hooks.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
        if hooks.is_empty() {
            value.as_object_mut().unwrap().remove("hooks");
        }
    }
    value
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn installing_and_uninstalling_restores_every_document(text in any_document()) {
        for agent in JSON {
            let home = Home::with(agent, &text);
            if install(agent, &home.options).is_err() {
                prop_assert_eq!(&home.read(agent), &text);
                continue;
            }
            let installed = home.read(agent);
            prop_assert_eq!(home.install(agent).change, FileChange::None, "{}", installed);
            prop_assert_eq!(comments(&installed), comments(&text), "{}", installed);
            home.uninstall(agent);
            prop_assert_eq!(&home.read(agent), &text);
        }
    }

    #[test]
    fn uninstalling_without_a_backup_preserves_the_values(text in any_document()) {
        for agent in JSON {
            let home = Home::with(agent, &text);
            if install(agent, &home.options).is_err() {
                continue;
            }
            for file in home.files().iter().filter(|file| file.extension().is_some_and(|end| end == "bak")) {
                fs::remove_file(file).unwrap();
            }
            let installed = home.read(agent);
            home.uninstall(agent);
            if !home.settings(agent).exists() {
                prop_assert_eq!(pruned(value(&text)), json!({}));
                continue;
            }
            let left = home.read(agent);
            let mut was = value(&text);
            if matches!(agent, Agent::Cursor | Agent::Copilot) {
                was["version"] = json!(1);
            }
            prop_assert_eq!(pruned(value(&left)), pruned(was), "{}", installed);
            prop_assert_eq!(comments(&left), comments(&text), "{} became {}", installed, left);
        }
    }
}
