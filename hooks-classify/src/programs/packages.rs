//! Package managers: a call in, its changes and the commands that it runs out.

use super::effect::operand_words;
use crate::analysis::{Analysis, Context};
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::options::call::Call;
use crate::tables::{OperandCount, Tables};

/// Analyzes a runner of packages whose operand may name a script, a file or the program of a package;
/// if the tables have the program, its effects count too. Operands before `text*` precede the name.
pub(super) fn package_program(
    context: &Context<'_>,
    call: &Call,
    _: Span,
    input: &Input,
) -> Analysis {
    let mut analysis = Analysis::new();
    let before = call.program.operands.iter();
    let before = before
        .take_while(|(_, count)| *count == OperandCount::One)
        .count();
    let mut words = operand_words(call);
    words.retain({
        let mut named = 0;
        move |word| {
            named += usize::from(named > 0 || !word.text.starts_with('-'));
            named > before
        }
    });
    if let [first, _, ..] = words.as_slice() {
        let name = package_name(&first.text).unwrap_or(&first.text).to_owned();
        if context.tables.program(&name).is_some() {
            words[0] = words[0].with_text(&name);
            analysis.run_words(words, input);
        }
    }
    analysis
}

/// Analyzes a wrapper whose options are not read: the words after `--` are a command, or the words
/// from the first one that is no option, if the tables have its program.
pub(super) fn wrapped_program(
    context: &Context<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
) -> Analysis {
    let words = operand_words(call);
    match words.iter().position(|word| word.text == "--") {
        Some(end) if end + 1 < words.len() => {
            let mut analysis = Analysis::new();
            analysis.run_words(words[end + 1..].to_vec(), input);
            analysis
        }
        _ => package_program(context, call, whole, input),
    }
}

/// Analyzes a command with the name of a program that it runs with its words: `corepack yarn add a`.
pub(super) fn named_program(
    context: &Context<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
) -> Analysis {
    let mut analysis = Analysis::new();
    let name = call.path.rsplit(' ').next().unwrap_or_default();
    if let Some(program) = context.tables.program(name) {
        analysis.run_call(Call::read(name, program, &call.args), whole, input);
    }
    analysis
}

/// Returns the name in the name of a package with a version or a registry: `NAME@VERSION`,
/// `@SCOPE/NAME@VERSION`, `npm:NAME`. Returns `None` for another word.
pub(crate) fn package_name(word: &str) -> Option<&str> {
    let registry = ["npm:", "jsr:"];
    let rest = registry.iter().find_map(|scheme| word.strip_prefix(scheme));
    let spec = rest.unwrap_or(word).trim_start_matches('/');
    let scope = usize::from(spec.starts_with('@'));
    let version = spec[scope..].find('@').map(|at| at + scope);
    let name = version.map_or(spec, |at| &spec[..at]);
    // `npm:NAME/FILE` names a file of the package.
    let parts = name.match_indices('/').nth(scope).map(|(at, _)| at);
    let name = parts.map_or(name, |at| &name[..at]);
    let is_spec = rest.is_some() || version.is_some() || scope > 0;
    (is_spec && name.len() > scope).then_some(name)
}

/// Returns the name of the program that a file probably contains, if the tables have the program: a
/// file of a package in `node_modules`, or a file with the name of the program.
pub(crate) fn program_of_file<'f>(tables: &Tables, file: &'f str) -> Option<&'f str> {
    let known = |name: &'f str| tables.program(name).is_some().then_some(name);
    if let Some((_, rest)) = file.rsplit_once("node_modules/") {
        let mut parts = rest.match_indices('/').map(|(at, _)| at);
        let end = parts.nth(usize::from(rest.starts_with('@')));
        let package = end.map(|end| &rest[..end]);
        if let Some(name) = package
            .filter(|name| !name.starts_with('.'))
            .and_then(known)
        {
            return Some(name);
        }
    }
    let last = file.rsplit('/').next().unwrap_or(file);
    // The last two parts of the path, such as `bin/console`.
    let two = file.trim_end_matches(last).trim_end_matches('/');
    let two = &file[two.rfind('/').map_or(0, |at| at + 1)..];
    let stem = last.strip_suffix(".phar").unwrap_or(last);
    known(two).or_else(|| known(last)).or_else(|| known(stem))
}

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

#[cfg(test)]
mod tests {
    use super::{package_name, program_of_file};
    use crate::tables::Tables;
    use crate::{Classifier, Crud};

    #[test]
    fn the_name_of_a_package_is_read_without_its_registry_and_version() {
        for (word, name) in [
            ("prisma@6", Some("prisma")),
            ("prisma@latest", Some("prisma")),
            ("@scope/tool@1.2", Some("@scope/tool")),
            ("@scope/tool", Some("@scope/tool")),
            ("npm:prisma", Some("prisma")),
            ("npm:prisma@6.1", Some("prisma")),
            ("npm:@scope/tool@1/cli", Some("@scope/tool")),
            ("jsr:@scope/tool", Some("@scope/tool")),
            ("prisma", None),
            ("./prisma", None),
            ("@", None),
            ("npm:", None),
        ] {
            assert_eq!(package_name(word), name, "{word}");
        }
    }

    #[test]
    fn the_path_of_a_file_names_its_program() {
        let tables = Tables::embedded();
        for (file, name) in [
            ("node_modules/prisma/build/index.js", Some("prisma")),
            (
                "a/node_modules/b/node_modules/knex/bin/cli.js",
                Some("knex"),
            ),
            ("node_modules/@mikro-orm/cli/esm", Some("@mikro-orm/cli")),
            ("node_modules/.bin/prisma", Some("prisma")),
            ("src/manage.py", Some("manage.py")),
            ("bin/console", Some("bin/console")),
            ("/srv/app/bin/console", Some("bin/console")),
            ("vendor/bin/phpunit", Some("phpunit")),
            ("drush.phar", Some("drush")),
            ("node_modules/unlisted/index.js", None),
            ("server.js", None),
            ("console", None),
        ] {
            assert_eq!(program_of_file(tables, file), name, "{file}");
        }
    }

    #[test]
    fn a_runner_of_packages_has_the_effects_of_the_program_that_it_runs() {
        let classifier = Classifier::new();
        let class = |command: &str| classifier.classify(command).expect("a command").crud;
        for runner in [
            "npx",
            "npx -y",
            "bunx",
            "pnpm",
            "pnpm exec",
            "pnpm dlx",
            "pnpm --filter db",
            "yarn",
            "yarn dlx",
            "yarn run",
            "yarn workspace db",
            "bun",
            "bun --bun",
            "bun x",
            "bun run",
            "npm exec --",
            "node node_modules/.bin/..",
            "deno run -A",
        ] {
            let program = |name: &str| match runner.split_once("..") {
                Some((folder, _)) => format!("{folder}{name}"),
                None if runner.starts_with("deno") => format!("{runner} npm:{name}"),
                None => format!("{runner} {name}"),
            };
            let deletes = format!("{} migrate reset --force", program("prisma"));
            assert_eq!(class(&deletes), Crud::Delete, "{deletes}");
            let generates = format!("{} generate", program("prisma"));
            assert_eq!(class(&generates), Crud::Create, "{generates}");
            let unknown = format!("{} make all", program("unlisted-tool"));
            assert_eq!(class(&unknown), Crud::Create, "{unknown}");
        }
    }
}
