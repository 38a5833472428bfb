//! Package managers: a call in, its changes and the commands that it runs out.

use crate::analysis::{Analysis, Context};
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::options::call::Call;

/// Analyzes `pacman`, which refreshes its databases with `-y`.
pub(super) fn pacman(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for opt in &call.options {
        let name = opt.name.as_str();
        if name == "--refresh" || (name.contains('y') && !name.starts_with("--")) {
            analysis.add_finding(
                Effect::Update,
                opt.span,
                format!("`{}` with `{name}` refreshes its databases", call.path),
            );
        }
    }
    analysis
}

/// Analyzes `rpm`, for which `-E` expands macros: `%(…)` and `%{lua:…}` run code.
pub(super) fn rpm(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let mut plain = false;
    for opt in call
        .options
        .iter()
        .filter(|g| ["-E", "--eval"].contains(&g.name.as_str()))
    {
        let Some(value) = &opt.value else { continue };
        let inner = value
            .text
            .trim_start_matches("%{")
            .trim_start_matches(['?', '!', '%']);
        let name = inner.trim_end_matches('}');
        if value.is_known()
            && !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && ![
                "load", "include", "define", "global", "undefine", "dump", "trace",
            ]
            .contains(&name)
        {
            plain = true;
            continue;
        }
        analysis.add_finding(
            Effect::Code,
            value.span,
            "`rpm` expands macros, which may run commands",
        );
        if let Some((_, rest)) = value.text.split_once("%(") {
            let command = rest.rsplit_once(')').map_or(rest, |(command, _)| command);
            analysis.run_shell_text(&value.with_text(command), &Input::Unknown);
        }
    }
    if plain && call.options.len() == 1 && call.operands.is_empty() && call.unrecognized.is_empty()
    {
        analysis.add_finding(Effect::Read, whole, "`rpm` prints what a macro stands for");
        return analysis.done();
    }
    analysis
}

/// Analyzes `npm diff`, which runs the scripts of packages that are not published.
pub(super) fn npm_diff(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let analysis = Analysis::new();
    let specs: Vec<&Arg> = call
        .options
        .iter()
        .filter(|opt| opt.name == "--diff")
        .filter_map(|opt| opt.value.as_ref())
        .collect();
    if specs.len() == 2
        && specs
            .iter()
            .all(|spec| spec.is_known() && is_published(&spec.text))
    {
        analysis
    } else {
        analysis.with_effect(Effect::Code)
    }
}

/// Analyzes `npm install` and `npm ci`, whose dry run runs the scripts of the project.
pub(super) fn npm_dry_run(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let names_packages = !call.operands.is_empty()
        && !call.path.contains("ci")
        && !call.path.contains("clean")
        && call
            .operands
            .iter()
            .all(|operand| is_package_of_registry(&operand.arg));
    let ignores_scripts = call
        .options
        .iter()
        .rfind(|opt| opt.name.ends_with("ignore-scripts"))
        .is_some_and(|opt| opt.value.is_none() && opt.name == "--ignore-scripts");
    if call.has_option(&["--dry-run"]) && !names_packages && !ignores_scripts {
        let reason = format!(
            "`{}` with `--dry-run` runs the install scripts of the project",
            call.path
        );
        analysis.add_finding(Effect::Code, whole, reason);
    }
    analysis
}

/// Returns `true` if a word is `NAME`, `@SCOPE/NAME` or one of these with `@VERSION`, not a folder, an
/// address or a repository.
fn is_package_of_registry(word: &Arg) -> bool {
    let text = word
        .text
        .strip_prefix('@')
        .map_or(Some(word.text.as_str()), |scoped| {
            scoped.split_once('/').map(|(_, name)| name)
        });
    text.is_some_and(|name| {
        word.is_known()
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !name.contains(['/', ':', '\\'])
            && !name.ends_with(".tgz")
            && !name.ends_with(".tar.gz")
    })
}

/// Returns `true` if a package is `NAME@VERSION` or `@SCOPE/NAME@VERSION`.
fn is_published(spec: &str) -> bool {
    let plain = |part: &str, more: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    let (scoped, rest) = match spec.strip_prefix('@') {
        Some(rest) => (true, rest),
        None => (false, spec),
    };
    let Some((name, version)) = rest.split_once('@') else {
        return false;
    };
    let named = match name.split_once('/') {
        Some((scope, name)) => scoped && plain(scope, "-_.") && plain(name, "-_."),
        None => !scoped && plain(name, "-_."),
    };
    let archive = [".tgz", ".tar", ".gz"]
        .iter()
        .any(|end| version.ends_with(end));
    named
        && !name.starts_with('.')
        && !archive
        && !version.starts_with('.')
        && plain(version, ".-+^~*<>=")
}
