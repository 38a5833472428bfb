//! Installed programs made with `cobra` and `clap`: an allowed line of a changing command must
//! print help.

use std::process::{Command, Stdio};

use hooks_classify::{Classifier, Decision, options_of};

use super::harmless::is_installed;
use super::{count, seed};
use crate::support::random::Random;

/// Commands that change something and fail without a server or a project.
const COMMANDS: &[&str] = &[
    "docker rm",
    "docker run",
    "docker exec",
    "docker rmi",
    "docker kill",
    "docker network rm",
    "docker volume create",
    "docker container prune",
    "docker image tag",
    "kubectl delete",
    "kubectl scale",
    "kubectl annotate",
    "kubectl exec",
    "kubectl cordon",
    "kubectl label",
    "kubectl rollout undo",
    "cargo remove",
    "cargo clean",
    "cargo run",
    "cargo add",
    "cargo fix",
    "cargo build",
    "cargo update",
    "cargo bench",
];

/// Operands, values and words that request help.
const VALUES: &[&str] = &[
    "a",
    "--",
    "--help",
    "-h",
    "--help",
    "-",
    "x=1",
    "false",
    "--help=false",
    "-h=0",
];

#[test]
fn allowed_lines_of_commands_print_help() {
    let classifier = Classifier::new();
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = Random(seed());
    let (mut ran, mut wrong) = (0, Vec::new());
    let commands: Vec<&str> = COMMANDS
        .iter()
        .copied()
        .filter(|path| is_installed(path))
        .collect();
    for name in ["docker", "kubectl"] {
        if !is_installed(name) {
            eprintln!("left out: `{name}` is missing");
        }
    }
    for _ in 0..count(150) {
        let path = random.of(&commands);
        let (_, options) = options_of(path).expect("a command of the tables");
        // A dry run and a list are harmless too, but print no help.
        let other = |name: &str| name.contains("dry-run") || matches!(name, "-n" | "--list");
        let plain = |name: &str| !name.contains(['*', '=']) && !other(name);
        let options: Vec<_> = options.into_iter().filter(|o| plain(&o.name)).collect();
        let mut words: Vec<String> = path.split(' ').map(str::to_owned).collect();
        for _ in 0..=random.below(4) {
            words.push(match random.below(2) {
                0 => random.of(VALUES).to_owned(),
                _ if options.is_empty() => continue,
                _ => {
                    let mut name = options[random.below(options.len())].name.clone();
                    if name.len() == 2 && random.below(2) == 0 {
                        name.push_str(random.of(&["h", "=h", "fh"]));
                    }
                    name
                }
            });
        }
        let quoted = words.iter().map(|word| format!("'{word}'"));
        let text = quoted.collect::<Vec<_>>().join(" ");
        let classification = classifier.classify(&text).expect("a command");
        if classification.decision == Decision::RequiresConfirmation {
            continue;
        }
        ran += 1;
        let output = Command::new(&words[0])
            .args(&words[1..])
            .current_dir(folder.path())
            .env("DOCKER_HOST", "unix:///nowhere/docker.sock")
            .env("KUBECONFIG", "/dev/null")
            .env("CARGO_NET_OFFLINE", "true")
            .env("PAGER", "cat")
            .stdin(Stdio::null())
            .output()
            .expect("a program that starts");
        let printed = String::from_utf8_lossy(&output.stdout).to_lowercase();
        let errors = String::from_utf8_lossy(&output.stderr).to_lowercase();
        let works = [
            "cannot connect",
            "connection refused",
            "could not find `cargo.toml`",
        ];
        let works = works.iter().any(|text| errors.contains(text));
        if works
            || output.status.success()
                && !printed.contains("usage")
                && !printed.contains("synopsis")
        {
            wrong.push(format!("{text}: {}", errors.lines().next().unwrap_or("")));
        }
    }
    eprintln!("{ran} lines are allowed");
    assert!(ran > 20, "only {ran} lines are allowed");
    assert!(
        wrong.is_empty(),
        "{} run:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
