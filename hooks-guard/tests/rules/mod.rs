//! Tests user-defined rules by rules files, commands and expected effects.

mod cases;
mod client_files;
mod files;
mod folders;
mod holds;
mod project_variables;
mod random;
mod suggest;

use std::path::{Path, PathBuf};

use hooks_guard::classify::{Classifier, CommandAnalysis, Decision};
use hooks_guard::rules::{Origin, Protected, RuleDecision, RuleEffect, Rules};
use hooks_guard::{FileAccess, NetworkAccess, PermissionRequest};

const HOME: &str = "/srv/u";
const PROJECT: &str = "/srv/u/project";

/// The places that the guard protects in these tests; none of them exists.
fn places() -> Protected {
    let mut places = Protected::new(HOME);
    places.listen = Some(([127, 0, 0, 1], 3000).into());
    places.socket = Some("/run/user/1000/hooks-guard.sock".into());
    places.files = vec![
        "/srv/u/.config/hooks-guard".into(),
        "/srv/u/.local/share/hooks-guard".into(),
    ];
    places.settings = vec!["/srv/u/.claude/settings.json".into()].into();
    places.pid = Some(4242);
    places
}

fn user(text: &str) -> Rules {
    Rules::parse(text, "guard.toml", Origin::User, None, &places()).expect("the rules are right")
}

fn project(text: &str, trusted: bool) -> Rules {
    let origin = Origin::Project { trusted };
    let folder = Some(Path::new(PROJECT));
    Rules::parse(text, "project.toml", origin, folder, &places()).expect("the rules are right")
}

fn command(text: &str) -> PermissionRequest {
    PermissionRequest {
        cwd: Some(PROJECT.into()),
        agent: Some("claude-code".into()),
        ..PermissionRequest::new(text)
    }
}

fn file(tool: &str, path: &str) -> PermissionRequest {
    use hooks_guard::classify::Crud;
    let effect = match tool {
        "Read" | "Grep" | "Glob" => Crud::Read,
        "Write" => Crud::Create,
        "Delete" => Crud::Delete,
        _ => Crud::Update,
    };
    PermissionRequest {
        file: Some(FileAccess {
            tool: tool.to_owned(),
            effect,
            paths: vec![PathBuf::from(path)],
            input_hash: None,
        }),
        ..command(&format!("{tool} {path}"))
    }
}

fn network(target: &str) -> PermissionRequest {
    let access = NetworkAccess::from_target(target);
    PermissionRequest {
        network: Some(access.clone()),
        ..command(&access.to_string())
    }
}

fn found(request: &PermissionRequest) -> CommandAnalysis {
    match (&request.file, &request.network) {
        (Some(file), _) => file.analyze(&request.command),
        (None, Some(access)) => access.analyze(&request.command),
        (None, None) => Classifier::new()
            .analyze(&request.command)
            .expect("it is a command"),
    }
}

/// Returns the effect for a request, and the verdict of the rules if there is one.
fn decide(rules: &Rules, request: &PermissionRequest) -> (RuleEffect, Option<RuleDecision>) {
    let found = found(request);
    let rule_decision = rules.decide(request, &found);
    let effect = match &rule_decision {
        Some(rule_decision) => rule_decision.effect,
        None if found.classification.decision == Decision::AutoAllowed => RuleEffect::Allow,
        None => RuleEffect::Ask,
    };
    (effect, rule_decision)
}
