//! Compilers and build programs: a call in, the files that it writes and the code that it runs out.

use super::effect::operand_words;
use super::roles::note_role;
use crate::analysis::{Analysis, Context};
use crate::model::arg::{Arg, display_text};
use crate::model::device::is_unstored_output;
use crate::model::effect::Effect;
use crate::model::environment::FileContents;
use crate::model::io::Input;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::options::call::Call;

/// Returns the program that a script of a project, such as `gradlew`, downloads and starts.
pub(crate) fn program_of_wrapper_script(script: &str) -> Option<&'static str> {
    match script {
        "gradlew" => Some("gradle"),
        "mvnw" => Some("mvn"),
        _ => None,
    }
}

/// Analyzes `terraform plan`, which may save a plan that destroys everything.
pub(super) fn terraform_plan(
    context: &Context<'_>,
    call: &Call,
    _: Span,
    input: &Input,
) -> Analysis {
    let mut analysis = Analysis::new();
    let off = |value: &Arg| value.text == "false";
    let destroys = (call.options.iter())
        .any(|opt| opt.name == "-destroy" && !opt.value.as_ref().is_some_and(off));
    let plans = call.options.iter().filter(|opt| opt.name == "-out");
    for file in plans.filter_map(|opt| opt.value.as_ref()) {
        let files = std::slice::from_ref(file);
        note_role(&mut analysis, context, call, Role::Output, files, input);
        if destroys {
            let name = file.with_text(file.text.trim_start_matches("./"));
            analysis.remember_file(&name, FileContents::Destruction);
        }
    }
    analysis
}

/// Analyzes `terraform apply`, whose operand may be a plan that destroys everything.
pub(super) fn terraform_apply(context: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for operand in &call.operands {
        let name = operand.arg.text.trim_start_matches("./");
        if context.environment.files.get(name) == Some(&FileContents::Destruction) {
            let name = display_text(&operand.arg);
            let reason = format!("`{}` applies `{name}`, a plan that destroys", call.path);
            analysis.add_finding(Effect::Delete, operand.arg.span, reason);
        }
    }
    analysis
}

/// Analyzes a program that reads arguments from a file: `@FILE`.
pub(super) fn arguments_file(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if let Some(arg) = call.args.iter().find(|arg| arg.text.starts_with('@')) {
        analysis.add_finding(
            Effect::Unknown,
            arg.span,
            format!("`{}` reads its options from a file", call.path),
        );
    }
    analysis
}

/// Analyzes a checker of code that takes flags of the compiler after `--`; an unknown flag may load
/// or write files.
pub(super) fn compile_flags(context: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let harmless = |flag: &str| {
        !flag.starts_with("-Wl,")
            && !flag.starts_with("-Wp,")
            && !flag.starts_with("-Wa,")
            && ([
                "-I",
                "-D",
                "-U",
                "-W",
                "-O",
                "-std=",
                "-isystem",
                "-iquote",
                "-isysroot",
                "-fno-",
                "--target=",
                "--sysroot=",
                "-march=",
                "-mtune=",
            ]
            .iter()
            .any(|known| flag.starts_with(known))
                || [
                    "-x",
                    "-c",
                    "-w",
                    "-g",
                    "-m32",
                    "-m64",
                    "-include",
                    "-pthread",
                    "-pedantic",
                    "-ansi",
                    "-nostdinc",
                    "-nostdinc++",
                    "-fPIC",
                    "-fpic",
                    "-fPIE",
                    "-fexceptions",
                    "-frtti",
                    "-fopenmp",
                    "-fcoroutines",
                    "-fsyntax-only",
                    "-xc",
                    "-xc++",
                ]
                .contains(&flag))
    };
    for operand in call
        .operands
        .iter()
        .filter(|operand| operand.after_double_dash)
    {
        let text = operand.arg.text.as_str();
        if !operand.arg.is_known()
            || text.starts_with('@')
            || (text.starts_with('-') && !harmless(text))
        {
            analysis.add_finding(
                Effect::Unknown,
                operand.arg.span,
                "this flag of the compiler may load or write something",
            );
        }
    }
    analysis.then(arguments_file(
        context,
        call,
        Span::default(),
        &Input::Unknown,
    ))
}

/// Analyzes a compiler, which only reads if it checks syntax, preprocesses or prints facts.
pub(super) fn cc(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let analysis = Analysis::new();
    let words: Vec<&str> = call.args.iter().map(|arg| arg.text.as_str()).collect();
    let name = call.path.rsplit('/').next().unwrap_or("");
    let fact = |w: &&str| {
        matches!(
            *w,
            "--version"
                | "-v"
                | "-V"
                | "--help"
                | "-dumpversion"
                | "-dumpfullversion"
                | "-dumpmachine"
                | "-dumpspecs"
                | "-###"
                | "-qversion"
        ) || w.starts_with("-print-")
            || w.starts_with("--print-")
            || w.starts_with("-m")
            || w.starts_with("-std=")
    };
    if !words.is_empty() && words.iter().all(fact) {
        return analysis.with_effect(Effect::Read);
    }
    if [
        "ld", "ld.lld", "ld.gold", "lld", "mold", "as", "nasm", "yasm",
    ]
    .contains(&name)
    {
        return analysis.with_effect(Effect::Create);
    }
    let pre = name.ends_with("cpp") && !name.contains("++");
    if !pre
        && !words
            .iter()
            .any(|w| matches!(*w, "-fsyntax-only" | "-E" | "-M" | "-MM"))
    {
        return analysis.with_effect(Effect::Create);
    }
    let mut operands = 0;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let valued = [
            "-I", "-D", "-U", "-isystem", "-iquote", "-include", "-x", "-target",
        ];
        if valued.contains(word) {
            at += 1;
        } else if *word == "-o" {
            if !words.get(at).is_some_and(|file| is_unstored_output(file)) {
                return analysis.with_effect(Effect::Create);
            }
            at += 1;
        } else if !word.starts_with('-') || *word == "-" {
            if word.starts_with('@') {
                return analysis.with_effect(Effect::Create);
            }
            operands += 1;
        } else {
            let is_harmless = matches!(
                *word,
                "-fsyntax-only"
                    | "-E"
                    | "-M"
                    | "-MM"
                    | "-w"
                    | "-pedantic"
                    | "-pedantic-errors"
                    | "-ansi"
                    | "-P"
                    | "-C"
                    | "-v"
                    | "-dM"
                    | "-dD"
                    | "-nostdinc"
                    | "-pthread"
                    | "-fPIC"
            ) || valued.iter().any(|v| word.starts_with(v) && v.len() == 2)
                || [
                    "-std=",
                    "-O",
                    "-g",
                    "-fdiagnostics-color",
                    "-fno-",
                    "-fmax-errors=",
                    "--target=",
                    "--std=",
                ]
                .iter()
                .any(|p| word.starts_with(p))
                || (word.starts_with("-W")
                    && !["-Wl,", "-Wa,", "-Wp,"].iter().any(|p| word.starts_with(p)))
                || (word.starts_with("-m")
                    && word
                        .chars()
                        .all(|c| c.is_alphanumeric() || "-=".contains(c)));
            if !is_harmless {
                return analysis.with_effect(Effect::Create);
            }
        }
    }
    if pre && operands > 1 {
        analysis.with_effect(Effect::Create)
    } else {
        analysis.with_effect(Effect::Read)
    }
}

/// Analyzes `ninja`, whose `-t` names one of its tools, and whose target `clean` deletes what was built.
pub(super) fn ninja(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let runs_targets = !call.has_option(&["-t", "-n"]);
    for target in call.operands.iter().filter(|_| runs_targets) {
        delete_with_target(&mut analysis, call, &target.arg);
    }
    let Some(tool) = call
        .options
        .iter()
        .find(|g| g.name == "-t")
        .and_then(|g| g.value.clone())
    else {
        return analysis;
    };
    if call.has_option(&["-n"]) {
        return analysis.with_effect(Effect::Read);
    }
    let effect = match tool.text.as_str() {
        "list" | "targets" | "query" | "deps" | "commands" | "inputs" | "multi-inputs"
        | "compdb" | "compdb-targets" | "graph" | "rules" | "missingdeps" | "wincodepage" => {
            Effect::Read
        }
        "clean" | "cleandead" => Effect::Delete,
        "recompact" | "restat" => Effect::Update,
        _ => Effect::Unknown,
    };
    analysis.add_finding(
        effect,
        tool.span,
        format!("`ninja` runs its tool `{}`", tool.text),
    );
    analysis.with_effect(effect)
}

/// Effect of the target `clean`, which generators add to each build, for explanations.
const CLEAN: &str = "deletes what was built";

/// Notes the target `clean` of a build.
fn delete_with_target(analysis: &mut Analysis, call: &Call, target: &Arg) {
    if target.text == "clean" {
        let reason = format!("`{} {}` {CLEAN}", call.path, target.text);
        analysis.add_finding(Effect::Delete, target.span, reason);
    }
}

/// Analyzes `cmake`, for which `-E` names a command and `-N` only lists.
pub(super) fn cmake(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let words: Vec<&str> = call.args.iter().map(|arg| arg.text.as_str()).collect();
    if words.first() == Some(&"-E") {
        let effect = match words.get(1).copied().unwrap_or("") {
            "capabilities" | "compare_files" | "environment" | "echo" | "cat" | "echo_append"
            | "md5sum" | "sha1sum" | "sha256sum" | "sha512sum" | "sleep" | "true" | "false" => {
                Effect::Read
            }
            "rename" | "touch_nocreate" => Effect::Update,
            "rm" | "remove" | "remove_directory" => Effect::Delete,
            "env" | "time" | "chdir" => Effect::Code,
            word if word.starts_with("copy")
                || word.starts_with("create_")
                || matches!(word, "make_directory" | "touch" | "tar") =>
            {
                Effect::Create
            }
            _ => Effect::Unknown,
        };
        analysis.add_finding(
            effect,
            whole,
            format!("`cmake -E {}`", words.get(1).copied().unwrap_or("")),
        );
        if words.get(1) == Some(&"cat") {
            for file in call.args.iter().skip(2) {
                analysis.read_file(file);
            }
        }
        // The commands that they run need confirmation in any case.
        let command = match words.get(1).copied() {
            Some("env") => words
                .iter()
                .skip(2)
                .position(|w| !w.contains('=') && !w.starts_with('-'))
                .map(|at| at + 2),
            Some("time") => Some(2),
            Some("chdir") => Some(3),
            _ => None,
        };
        if let Some(rest) = command.and_then(|at| call.args.get(at..))
            && !rest.is_empty()
        {
            analysis.run_words(rest.to_vec(), &Input::Unknown);
        }
        return analysis.done();
    }
    write_help_to_file(&mut analysis, call, &["--version", "-version", "-V"]);
    if call.has_option(&["--build"]) {
        let is_of_target = |name: &str| matches!(name, "--target" | "-t");
        for option in &call.options {
            match &option.value {
                Some(target) if is_of_target(&option.name) => {
                    delete_with_target(&mut analysis, call, target);
                }
                _ if option.name == "--clean-first" => {
                    let reason = format!("`{}` with `--clean-first` {CLEAN}", call.path);
                    analysis.add_finding(Effect::Delete, option.span, reason);
                }
                _ => {}
            }
        }
        // Several targets may follow `--target`.
        for target in &call.operands {
            delete_with_target(&mut analysis, call, &target.arg);
        }
    }
    let lists = words
        .iter()
        .any(|w| matches!(*w, "-L" | "-LA" | "-LH" | "-LAH"));
    if words.contains(&"-N") {
        return analysis.with_effect(Effect::Read);
    }
    if lists {
        return analysis.with_effect(Effect::Create);
    }
    analysis
}

/// Analyzes `buildifier`, which only reads in the modes that check.
pub(super) fn buildifier(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let analysis = Analysis::new();
    let value = |name: &str| {
        call.options
            .iter()
            .find(|g| g.name.trim_start_matches('-') == name)
            .and_then(|g| g.value.as_ref())
            .map(|v| v.text.clone())
    };
    let checks =
        value("mode").is_some_and(|m| ["check", "diff", "print_if_changed"].contains(&m.as_str()));
    if checks && value("lint").as_deref() != Some("fix") && !operand_words(call).is_empty() {
        return analysis.with_effect(Effect::Read);
    }
    analysis
}

/// Analyzes a program for which `false` after a flag negates the flag.
pub(super) fn flag_values(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for pair in call.args.windows(2) {
        let name = format!("-{}", pair[0].text.trim_start_matches('-'));
        let promises = call
            .program
            .options
            .get(&name)
            .is_some_and(|option| option.effect.is_some());
        if promises && (pair[1].text == "false" || !pair[1].is_known()) {
            analysis.add_finding(
                Effect::Create,
                pair[1].span,
                format!("`{}` may be told `false` by this", call.path),
            );
        }
    }
    analysis
}

/// Analyzes a build program of which every operand is a goal; the strongest goal decides. A goal that
/// changes something is a finding of its own, because the other goals run code beside it.
pub(super) fn goals(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let mut effect = None;
    for operand in &call.operands {
        let goal = call.program.command(call.program, &operand.arg.text);
        let Some(goal) = goal.filter(|goal| goal.effect > Effect::Code) else {
            effect = effect.max(Some(goal.map_or(Effect::Code, |goal| goal.effect)));
            continue;
        };
        let reason = format!("`{} {}` {}", call.path, operand.arg.text, goal.does);
        analysis.add_finding(goal.effect, operand.arg.span, reason);
        effect = effect.max(Some(Effect::Code));
    }
    match effect {
        Some(effect) => analysis.with_effect(effect),
        None => analysis,
    }
}

/// Analyzes a runner of tasks of which the operands are further tasks, separated by blanks or commas:
/// tasks that the table of the program lists have their own effects.
pub(super) fn tasks(context: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let name = call.path.split(' ').next().unwrap_or_default();
    let Some(program) = context.tables.program(name) else {
        return analysis;
    };
    for operand in &call.operands {
        for word in operand.arg.text.split([' ', ',']) {
            // `rake db:drop[x]`
            let task = word.split('[').next().unwrap_or(word);
            if let Some(task) = program.commands.get(task)
                && task.effect > Effect::Unknown
            {
                let reason = format!("`{name} {word}` {}", task.does);
                analysis.add_finding(task.effect, operand.arg.span, reason);
            }
        }
    }
    analysis
}

/// Analyzes `ctest`, which writes its help or version to a file that follows.
pub(super) fn ctest(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    write_help_to_file(&mut analysis, call, &["--version", "-version"]);
    analysis
}

/// Notes the file to which cmake writes its help or version: `--help-full FILE`,
/// `--help-command NAME FILE`.
fn write_help_to_file(analysis: &mut Analysis, call: &Call, versions: &[&str]) {
    for (at, option) in call.args.iter().enumerate() {
        let topics = [
            "--help-manual",
            "--help-module",
            "--help-command",
            "--help-variable",
            "--help-property",
            "--help-policy",
        ];
        let name = option.text.as_str();
        let names_topic = topics.contains(&name);
        if !versions.contains(&name) && !name.starts_with("--help-") {
            continue;
        }
        let words = call.args[at + 1..].iter();
        let mut words = words.take_while(|word| !word.text.starts_with('-'));
        let file = words.nth(usize::from(names_topic && !name.contains('=')));
        if let Some(file) = file {
            let reason = format!(
                "`{}` with `{name}` writes `{}`",
                call.path,
                display_text(file)
            );
            analysis.add_finding(Effect::Create, file.span, reason);
        }
    }
}

/// Parts of Nix expressions that import, fetch, build, or reach a builtin by another name.
const NIX_CODE: &[&str] = &[
    "import",
    "derivation",
    "fetch",
    "getflake",
    "exec",
    "path",
    "tofile",
    "filtersource",
    "<",
    "$",
    "callpackage",
    "outputof",
    "getattr",
    "context",
    "trace",
    "plugin",
];

/// Analyzes an evaluation by Nix: an expression may import a derivation, which is built first.
pub(super) fn nix_eval(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let analysis = Analysis::new();
    let is_harmless = |arg: &Arg| {
        let text = arg.text.to_lowercase();
        let mut uses = text.split("builtins").skip(1);
        arg.is_known()
            && !NIX_CODE.iter().any(|code| text.contains(code))
            && uses.all(|rest| rest.starts_with('.'))
    };
    let operands = operand_words(call);
    if call.has_option(&["--parse"]) {
        return analysis;
    }
    // `nix-instantiate` has a flag, whose expressions are the operands.
    let (is_flag, evaluates) = (call.has_option(&["-E"]), call.has_option(&["--eval"]));
    let texts = call.options.iter().filter(|opt| {
        matches!(opt.name.as_str(), "--expr" | "--apply" | "--arg") && opt.value.is_some()
    });
    let texts: Vec<&Arg> = texts.filter_map(|opt| opt.value.as_ref()).collect();
    let is_read = match call.path.contains(' ') {
        true if call.has_option(&["-f", "--file"])
            || !texts.iter().all(|text| is_harmless(text)) =>
        {
            false
        }
        true if call.has_option(&["--expr"]) => true,
        true => !operands.is_empty() && operands.iter().all(is_remote_flake),
        false => {
            let is_flag = is_flag || call.has_option(&["--expr"]);
            is_flag && evaluates && !operands.is_empty() && operands.iter().all(is_harmless)
        }
    };
    match is_read {
        true => analysis.with_effect(Effect::Read),
        false => analysis.with_effect(Effect::Code),
    }
}

/// Returns `true` if a word names a flake that is no folder of this machine: `nixpkgs#hello`.
fn is_remote_flake(word: &Arg) -> bool {
    let folders = ["#", ".", "/", "~", "path:", "git+file:", "file:", "?"];
    word.is_known()
        && !word.text.is_empty()
        && !folders.iter().any(|start| word.text.starts_with(start))
}

/// Analyzes a command that evaluates a flake; it updates the lock file of a flake in a folder.
pub(super) fn flake(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let analysis = Analysis::new();
    let kept = ["--no-write-lock-file", "--expr", "-f", "--file"];
    if call.has_option(&kept) {
        return analysis;
    }
    let operands = operand_words(call);
    let is_stored = |operand: &Arg| operand.text.starts_with("/nix/store/");
    let local = operands.is_empty()
        || operands
            .iter()
            .any(|operand| !is_remote_flake(operand) && !is_stored(operand));
    analysis.with_effect(match local {
        true => Effect::Create,
        false => Effect::Read,
    })
}
