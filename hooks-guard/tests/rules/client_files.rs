//! Tests that no mode, preset or rule lets an agent change the files from which clients read hooks,
//! settings, extensions, plugins and commands.

use std::path::{Path, PathBuf};

use hooks_guard::classify::{Classifier, Decision};
use hooks_guard::config::Config;
use hooks_guard::gate::Gate;
use hooks_guard::places::Places;
use hooks_guard::protocol::{Agent, CLIENTS, FilePlace, HookEvent, read};
use hooks_guard::rules::{Preset, Protected, RuleBook};
use hooks_guard::{PermissionDecision, PermissionRequest};
use serde_json::{Value, json};

use crate::repository::make_repository;

/// A rule for every program of these tests, and for every file.
const ALLOWS: &str = r#"
[[rule]]
effect = "allow"
program = ["cat", "cd", "cp", "dd", "echo", "install", "ln", "mkdir", "mv", "printf", "python3", "rm",
  "rsync", "sed", "sh", "tee", "touch", "truncate", "unlink"]

[[rule]]
effect = "allow"
tool = ["*"]
path = ["**", "~/**", "/srv/**", "/etc/**", "/Library/**"]
"#;

/// Configurations of the modes: the default, and the weakest.
const WEAKEST: &str = "[modes]\ndefault = \"nothing\"\nacceptEdits = \"nothing\"\nauto = \
                       \"nothing\"\nbypassPermissions = \"nothing\"\n";

const MODES: [&str; 4] = ["default", "acceptEdits", "auto", "bypassPermissions"];

/// A home directory with a project, and gates for it.
pub(super) struct Workplace {
    pub(super) home: tempfile::TempDir,
    pub(super) gates: Vec<(String, Gate)>,
}

impl Workplace {
    pub(super) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("work/project");
        std::fs::create_dir_all(project.join("sub")).unwrap();
        make_repository(&project);
        let presets = std::iter::once(None).chain(Preset::ALL.map(Some));
        let mut gates = Vec::new();
        for preset in presets {
            for (modes, config) in [("default", ""), ("weakest", WEAKEST)] {
                for (rules, text) in [("none", ""), ("all", ALLOWS)] {
                    let name = format!("{preset:?}, modes {modes}, rules {rules}");
                    let places = Places::below(&home.path().join(format!("gate{}", gates.len())));
                    std::fs::create_dir_all(&places.config).unwrap();
                    let text = Preset::put(preset, text).unwrap();
                    std::fs::write(places.rules_file(), text).unwrap();
                    let config: Config = toml::from_str(config).unwrap();
                    let book = RuleBook::new(&places, Protected::new(home.path()));
                    let gate = Gate::new(Classifier::new(), config.policy()).with_rules(book);
                    gates.push((name, gate));
                }
            }
        }
        Self { home, gates }
    }

    pub(super) fn project(&self) -> PathBuf {
        self.home.path().join("work/project")
    }

    fn command(&self, text: &str) -> PermissionRequest {
        let input = json!({"hook_event_name": "PreToolUse", "session_id": "s",
            "cwd": self.project(), "tool_name": "Bash", "tool_input": {"command": text}});
        request(Agent::ClaudeCode, &input)
    }

    /// Returns calls of the file tools of clients that change a file.
    fn tools(&self, path: &str) -> Vec<PermissionRequest> {
        let call = |tool: &str, input: Value| {
            json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": self.project(),
                "tool_name": tool, "tool_input": input})
        };
        let patch = |head: &str, body: &str| {
            let text = format!("*** Begin Patch\n*** {head} File: {path}\n{body}*** End Patch\n");
            call("apply_patch", json!({"command": text}))
        };
        [
            (
                Agent::ClaudeCode,
                call("Write", json!({"file_path": path, "content": "{}"})),
            ),
            (
                Agent::ClaudeCode,
                call(
                    "Edit",
                    json!({"file_path": path, "old_string": "a", "new_string": "b"}),
                ),
            ),
            (Agent::Codex, patch("Add", "+{}\n")),
            (Agent::Codex, patch("Update", "@@\n-a\n+b\n")),
            (Agent::Codex, patch("Delete", "")),
            (
                Agent::QwenCode,
                call("write_file", json!({"file_path": path, "content": "{}"})),
            ),
        ]
        .map(|(agent, input)| request(agent, &input))
        .to_vec()
    }

    pub(super) async fn decide(
        &self,
        gate: &Gate,
        request: &PermissionRequest,
        mode: &str,
    ) -> PermissionDecision {
        let request = PermissionRequest {
            permission_mode: Some(mode.to_owned()),
            ..request.clone()
        };
        gate.decide(&request).await.permission
    }

    /// Panics if a gate allows a request or leaves it to the agent.
    pub(super) async fn assert_guarded(
        &self,
        request: &PermissionRequest,
        extent: Extent,
        turn: usize,
    ) {
        let modes = MODES.len();
        for (at, (name, gate)) in self.gates.iter().enumerate() {
            let is_weakest =
                name.contains("Development") && name.ends_with("modes weakest, rules all");
            for (number, mode) in MODES.into_iter().enumerate() {
                let is_checked = match extent {
                    Extent::All => true,
                    Extent::EachGate => (turn + at) % modes == number,
                    Extent::Weakest => {
                        is_weakest && mode == "auto"
                            || turn % (self.gates.len() * modes) == at * modes + number
                    }
                };
                if !is_checked {
                    continue;
                }
                let permission = self.decide(gate, request, mode).await;
                let is_guarded = permission.decision == Decision::RequiresConfirmation
                    && !permission.left_to_agent;
                assert!(
                    is_guarded,
                    "{} ({name}, {mode}): {permission:?}",
                    request.command
                );
            }
        }
    }
}

/// The gates and modes with which a request is decided.
#[derive(Clone, Copy)]
pub(super) enum Extent {
    /// Each gate in each mode.
    All,
    /// Each gate in one mode, which changes with the turn.
    EachGate,
    /// The gate that allows most, and a gate that changes with the turn.
    Weakest,
}

pub(super) fn request(agent: Agent, input: &Value) -> PermissionRequest {
    match read(agent, input.to_string().as_bytes()) {
        Ok(HookEvent::Ask(question)) => question.request,
        other => panic!("{input}: {other:?}"),
    }
}

/// Returns the paths of an entry, for each place of the file.
fn paths(place: FilePlace, path: &str) -> Vec<String> {
    let mut path = path.replace('*', "-x");
    if path.ends_with('/') {
        path.push_str("a/x.json");
    }
    match place {
        FilePlace::Machine => vec![path],
        FilePlace::User => vec![format!("~/{path}")],
        FilePlace::Project => vec![path],
        FilePlace::Both => vec![path.clone(), format!("~/{path}")],
    }
}

/// Returns every path of the table, each once.
fn all_paths() -> Vec<String> {
    let files = CLIENTS.iter().flat_map(|client| client.files);
    let mut all: Vec<String> = files
        .flat_map(|file| paths(file.place, file.path))
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Returns a path as a word of a shell.
fn word(path: &str) -> String {
    path.replace(' ', "\\ ")
}

/// Returns commands that change, replace, move, delete or link a file.
fn commands(path: &str) -> Vec<String> {
    let is_token = path.contains(['.', '/']) && !path.contains(' ');
    let path = word(path);
    let path = path.as_str();
    let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
    let mut all = vec![
        format!("echo '{{}}' >> {path}"),
        format!("printf x | tee {path}"),
        format!("cp /tmp/x {path}"),
        format!("cp /tmp/{name} {folder}/"),
        format!("mv x {path}"),
        format!("mv {path} y"),
        format!("rm {path}"),
        format!("rm -rf {path}"),
        format!("unlink {path}"),
        format!("ln -s /tmp/x {path}"),
        format!("ln {path} y"),
        format!("sed -i s/a/b/ {path}"),
        format!("touch {path}"),
        format!("truncate -s 0 {path}"),
        format!("dd if=x of={path}"),
        format!("mkdir -p {folder} && cd {folder} && echo '{{}}' > {name}"),
        format!("sh -c \"echo x > {path}\""),
    ];
    // Code in other languages is searched for words that look like paths.
    if is_token {
        all.push(format!("python3 -c \"open('{path}', 'w').write('x')\""));
    }
    all
}

#[tokio::test]
async fn no_mode_preset_or_rule_lets_an_agent_write_a_file_of_the_table() {
    let workplace = Workplace::new();
    let paths = all_paths();
    assert!(paths.len() > 100, "{}", paths.len());
    for (turn, path) in paths.iter().enumerate() {
        let expanded = path.replacen("~/", &format!("{}/", workplace.home.path().display()), 1);
        for (at, request) in workplace.tools(&expanded).iter().enumerate() {
            let extent = match at == turn % 6 {
                true => Extent::All,
                false => Extent::Weakest,
            };
            workplace.assert_guarded(request, extent, turn).await;
        }
        let write = workplace.command(&format!("echo '{{}}' > {}", word(path)));
        workplace
            .assert_guarded(&write, Extent::EachGate, turn)
            .await;
    }
}

#[tokio::test]
async fn no_shell_command_changes_a_file_of_the_table() {
    let workplace = Workplace::new();
    let mut turn = 0;
    for path in all_paths() {
        for command in commands(&path) {
            turn += 1;
            let request = workplace.command(&command);
            workplace
                .assert_guarded(&request, Extent::Weakest, turn)
                .await;
        }
    }
}

/// Agents start in sub-folders and other projects, and file systems fold letter case.
#[tokio::test]
async fn the_files_of_projects_are_guarded_in_every_folder_and_spelling() {
    let workplace = Workplace::new();
    let in_project = |file: &&hooks_guard::protocol::ClientFile| file.place.is_in_project();
    let files = CLIENTS
        .iter()
        .flat_map(|client| client.files)
        .filter(in_project);
    let mut turn = 0;
    for file in files {
        let path = &paths(FilePlace::Project, file.path)[0];
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        let rest = if rest.is_empty() {
            ""
        } else {
            &path[first.len()..]
        };
        for other in [
            format!("sub/{path}"),
            format!("sub/new/deep/{path}"),
            format!("../other/{path}"),
            format!("/srv/elsewhere/{path}"),
            path.to_uppercase(),
            format!("sub/../{path}"),
            format!("./{first}/./..//{first}{rest}"),
        ] {
            turn += 1;
            for request in &workplace.tools(&other)[..2] {
                workplace
                    .assert_guarded(request, Extent::Weakest, turn)
                    .await;
            }
            let write = workplace.command(&format!("cp x {other}"));
            workplace
                .assert_guarded(&write, Extent::Weakest, turn)
                .await;
        }
    }
}

/// The name of a file of the table may come from a directory that is moved, copied or linked there.
#[tokio::test]
async fn a_directory_does_not_become_one_of_the_table_under_its_own_name() {
    let workplace = Workplace::new();
    let project = workplace.project();
    std::fs::create_dir_all(project.join("payload/hooks")).unwrap();
    std::fs::create_dir_all(project.join(".github/workflows")).unwrap();
    for command in [
        "mv payload .qwen",
        "mv payload .QWEN",
        "cp -r payload .qwen",
        "cp -rT payload .github",
        "cp -r payload/. .github",
        "cp -r payload/* .github/",
        "cp -r payload/hooks .github/",
        "cp -r payload/hooks .github",
        "rsync -a payload/ .factory/",
        "ln -s payload .factory",
        "ln -s payload .github/hooks",
        // The link leads a later part of the command there.
        "ln -s .qwen link && echo '{}' > link/settings.json",
        "ln -s .github link && cp -r payload/hooks link/",
        "mv payload/hooks sub/.clinerules",
        "cd .github && mv ../payload/hooks .",
        "git mv payload .gemini",
    ] {
        let request = workplace.command(command);
        workplace.assert_guarded(&request, Extent::All, 0).await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn links_to_the_files_of_the_table_are_followed() {
    use std::os::unix::fs::symlink;

    let workplace = Workplace::new();
    let project = workplace.project();
    std::fs::create_dir_all(project.join(".qwen")).unwrap();
    std::fs::create_dir_all(project.join("elsewhere")).unwrap();
    symlink(".qwen", project.join("folder")).unwrap();
    symlink(".qwen/settings.json", project.join("file")).unwrap();
    symlink(".factory/hooks.json", project.join("dangling")).unwrap();
    for path in ["folder/settings.json", "file", "dangling", "sub/../file"] {
        for request in workplace.tools(path) {
            workplace.assert_guarded(&request, Extent::All, 0).await;
        }
        let write = workplace.command(&format!("echo x > {path}"));
        workplace.assert_guarded(&write, Extent::All, 0).await;
    }
}

#[tokio::test]
async fn a_worktree_below_a_directory_of_the_table_is_a_folder_as_any_other() {
    let workplace = Workplace::new();
    for path in [
        ".codex/worktrees/a/.codex/config.toml",
        ".codex/worktrees/a/.qwen/settings.json",
        ".codex/worktrees/a/../../config.toml",
        ".codex/worktrees/config.toml",
        ".codex/worktrees",
    ] {
        for request in workplace.tools(path) {
            workplace.assert_guarded(&request, Extent::All, 0).await;
        }
    }
    let write = workplace.command("echo x > .codex/worktrees/$dir/config.toml");
    workplace.assert_guarded(&write, Extent::All, 0).await;
}

/// The table does not make the rest of a project's work a question.
#[tokio::test]
async fn ordinary_files_are_left_to_rules_and_modes() {
    let workplace = Workplace::new();
    std::fs::create_dir_all(workplace.project().join(".github/ISSUE_TEMPLATE")).unwrap();
    let (_, gate) = (workplace.gates.iter())
        .find(|(name, _)| name == "Some(Development), modes default, rules all")
        .unwrap();
    for path in [
        "src/settings.json",
        "src/hooks.json",
        "config.toml",
        "hooks/use.ts",
        ".github/ISSUE_TEMPLATE/bug.md",
        ".claude/notes.md",
        ".claude/worktrees/a/src/main.rs",
        ".codex/worktrees/a/src/main.rs",
        ".kilo/worktrees/a/README.md",
        "agents/a.md",
        "commands/x.toml",
        "docs/crush.md",
    ] {
        let input = json!({"hook_event_name": "PreToolUse", "session_id": "s",
            "cwd": workplace.project(), "tool_name": "Write",
            "tool_input": {"file_path": workplace.project().join(path), "content": ""}});
        let permission = workplace
            .decide(gate, &request(Agent::ClaudeCode, &input), "default")
            .await;
        assert_eq!(
            permission.decision,
            Decision::AutoAllowed,
            "{path}: {permission:?}"
        );
    }
    for command in [
        "cp a.yml .github/ISSUE_TEMPLATE/",
        "mkdir -p .github/ISSUE_TEMPLATE",
        "mv a.yml .github/ISSUE_TEMPLATE/b.yml",
        "cp -r payload sub/",
        "cat .gemini/commands/x.toml",
    ] {
        let request = workplace.command(command);
        let permission = workplace.decide(gate, &request, "default").await;
        assert_eq!(
            permission.decision,
            Decision::AutoAllowed,
            "{command}: {permission:?}"
        );
    }
}

#[test]
fn each_client_is_in_the_table_once_and_its_sources_name_versions() {
    for agent in Agent::ALL {
        let entries = CLIENTS.iter().filter(|client| client.agent == Some(agent));
        assert_eq!(entries.count(), 1, "{agent}");
    }
    for client in CLIENTS {
        assert!(!client.files.is_empty(), "{}", client.title);
        for file in client.files {
            let is_absolute = Path::new(file.path).is_absolute();
            assert_eq!(
                is_absolute,
                file.place == FilePlace::Machine,
                "{}",
                file.path
            );
            assert!(!file.path.contains(".."), "{}", file.path);
        }
    }
}

/// Returns the rows of the book's table: one for each client and source.
fn rows() -> Vec<String> {
    let mut rows: Vec<(String, String)> = Vec::new();
    for client in CLIENTS {
        for file in client.files {
            let source = file.source.unwrap_or(client.source);
            let path = match file.place {
                FilePlace::Project => format!("`./{}`", file.path),
                FilePlace::User => format!("`~/{}`", file.path),
                FilePlace::Both | FilePlace::Machine => format!("`{}`", file.path),
            };
            let start = format!("| {} | {source} | ", client.title);
            match rows.iter_mut().find(|(other, _)| *other == start) {
                Some((_, paths)) => {
                    paths.push_str(", ");
                    paths.push_str(&path);
                }
                None => rows.push((start, path)),
            }
        }
    }
    rows.into_iter()
        .map(|(start, paths)| format!("{start}{paths} |"))
        .collect()
}

#[test]
fn the_page_lists_each_file_with_its_source() {
    let page = include_str!("../../../docs/agents.md");
    let rows = rows();
    for row in &rows {
        assert!(
            page.contains(row),
            "docs/agents.md lacks a row of\n{}",
            rows.join("\n")
        );
    }
}
