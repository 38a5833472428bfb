//! Judges of programs that speak to services.

use super::{Outcome, args};
use crate::judge::Judge;
use crate::model::arg::UNKNOWN;
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::options::call::Call;

/// `gh api`: the method decides, or what a GraphQL query does.
pub(super) fn api(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    let fields = ["-f", "-F", "--raw-field", "--field", "--input", "--form"];
    let mut method = None;
    let mut query = None;
    let mut body = false;
    for given in &call.options {
        let Some(value) = &given.value else { continue };
        let text = value.text.as_str();
        match given.name.as_str() {
            "-X" | "--method" => method = Some(text.to_ascii_uppercase()),
            "--hostname" if !value.known() => {
                judge.ask(value.span, "an expansion decides where the words go")
            }
            name if fields.contains(&name) => {
                body = true;
                let file = name == "--input"
                    || text
                        .split_once('=')
                        .is_some_and(|(_, v)| v.starts_with('@'));
                if file {
                    judge.ask(value.span, "sends what is in a file");
                }
                if let Some(text) = text.strip_prefix("query=") {
                    query = Some(text.to_owned());
                }
            }
            _ => {}
        }
    }
    let path = args(call)
        .first()
        .map(|arg| arg.text.clone())
        .unwrap_or_default();
    if path.starts_with(UNKNOWN) || (path.starts_with("http") && path.contains(UNKNOWN)) {
        judge.ask(whole, "an expansion decides where the words go");
    }
    let query_of = path.split_once('?').map_or("", |(_, query)| query);
    if query_of.contains(UNKNOWN) {
        judge.ask(whole, "sends what an expansion holds over the network");
    }
    if path.trim_start_matches('/') == "graphql" {
        return Outcome::Is(match query {
            Some(text) if text.starts_with('@') || text.contains(UNKNOWN) => Effect::Update,
            Some(text) => graphql(&text),
            None => Effect::Update,
        });
    }
    Outcome::Is(match method.as_deref() {
        None if body => Effect::Create,
        None | Some("GET" | "HEAD") => Effect::Read,
        Some("POST") => Effect::Create,
        Some("PUT" | "PATCH") => Effect::Update,
        Some("DELETE") => Effect::Delete,
        Some(_) => Effect::Unknown,
    })
}

fn graphql(text: &str) -> Effect {
    let mut depth = 0usize;
    let mut word = String::new();
    let mut worst = Effect::Read;
    let mut fields = Vec::new();
    for c in text.chars().chain([' ']) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if depth == 0 && matches!(word.as_str(), "mutation" | "subscription") {
            worst = Effect::Update;
        }
        if depth == 1 && !word.is_empty() {
            fields.push(word.to_ascii_lowercase());
        }
        word.clear();
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    if worst == Effect::Update
        && fields
            .iter()
            .any(|f| f.starts_with("delete") || f.starts_with("remove"))
    {
        return Effect::Delete;
    }
    worst
}

/// `kubectl get`: whether the values of secrets are shown.
pub(super) fn kubectl_get(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    let kind = |text: &str| {
        text.split(',').any(|part| {
            let name = part.split(['/', '.']).next().unwrap_or(part);
            ["secret", "secrets"].contains(&name.to_ascii_lowercase().as_str())
        })
    };
    let named = call.operands.iter().any(|operand| kind(&operand.arg.text));
    let full = call.options.iter().any(|given| {
        let value = given.value.as_ref().map_or("", |v| v.text.as_str());
        match given.name.as_str() {
            "-o" | "--output" => !matches!(value, "name" | "wide"),
            "--template" => true,
            _ => false,
        }
    });
    let raw = call.options.iter().any(|given| {
        given.name == "--raw"
            && given
                .value
                .as_ref()
                .is_some_and(|v| v.text.contains("/secrets"))
    });
    if (named && full) || raw {
        judge.ask(
            whole,
            format!("`{}` shows the values of secrets", call.path),
        );
    }
    Outcome::Table
}

/// What is put in by templates, and variables that name programs.
fn templates(judge: &mut Judge<'_>, call: &Call) {
    for given in &call.options {
        let Some(value) = &given.value else { continue };
        let text = value.text.as_str();
        let template = text.contains("{{") || text.contains("{%");
        let code = match given.name.as_str() {
            "-a" | "--args" => template,
            "-e" | "--extra-vars" => {
                template
                    || text.contains("ansible_")
                    || text.contains('\\')
                    || text.starts_with('@')
                    || !value.known()
            }
            _ => false,
        };
        if code {
            judge.find(
                Effect::Code,
                value.span,
                format!(
                    "what `{}` is given with `{}` may run code",
                    call.path, given.name
                ),
            );
        }
    }
}

/// Variables also count where a playbook is only listed.
pub(super) fn ansible_vars(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    templates(judge, call);
    Outcome::Table
}

/// `ansible`: the module decides.
pub(super) fn ansible(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    if call.has(&["--tree", "-t"]) {
        judge.find(
            Effect::Create,
            call.args.first().map_or_else(Span::default, |arg| arg.span),
            "`ansible` writes what it found",
        );
    }
    templates(judge, call);
    let value = |names: [&str; 2]| {
        call.options
            .iter()
            .rev()
            .find(|g| names.contains(&g.name.as_str()))
            .and_then(|g| g.value.clone())
    };
    let module = value(["-m", "--module-name"]);
    let name = module.as_ref().map_or("command", |m| m.text.as_str());
    let name = name.rsplit('.').next().unwrap_or(name);
    let arguments = value(["-a", "--args"]);
    let given = arguments.as_ref().map_or("", |a| a.text.as_str());
    // What they print or check is an expression, which may look up anything.
    if matches!(name, "debug" | "assert") && given.contains(['(', '[', '{', '|', '\\']) {
        return Outcome::Is(Effect::Code);
    }
    if name == "slurp"
        && let Some(arguments) = &arguments
    {
        for word in arguments.text.split_whitespace() {
            let file = word.split_once('=').map_or(word, |(_, file)| file);
            judge.input_file(&arguments.with(file.trim_matches(['"', '\''])));
        }
    }
    match name {
        "ping" | "setup" | "debug" | "stat" | "gather_facts" | "service_facts"
        | "package_facts" | "find" | "slurp" | "getent" | "assert" => Outcome::Is(Effect::Read),
        "command" | "shell" | "raw" | "win_shell" | "win_command" => match arguments {
            Some(arguments) => {
                let words: Vec<&str> = arguments
                    .text
                    .split(' ')
                    .skip_while(|w| {
                        ["chdir=", "creates=", "removes=", "executable="]
                            .iter()
                            .any(|p| w.starts_with(p))
                    })
                    .collect();
                judge.shell_text(&arguments.with(&words.join(" ")), &Input::Unknown);
                Outcome::Is(Effect::Read)
            }
            None => Outcome::Is(Effect::Unknown),
        },
        "file" if arguments.is_some_and(|a| a.text.contains("state=absent")) => {
            Outcome::Is(Effect::Delete)
        }
        _ => Outcome::Is(Effect::Create),
    }
}
